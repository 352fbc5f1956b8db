"""Turns Chinese expressions of time, seen from a moment, into half-open windows of whole days."""

from datetime import date, timedelta

WEEKDAYS = "一二三四五六日"


def month_window(year, month):
    """Return the first day of a month and of the next; month may be zero or less."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after


def day_window(day):
    """Return the window that is one day."""
    return day, day + timedelta(days=1)


def last_holiday(today, month, day, length):
    """Return the latest window of a fixed holiday that has ended before today."""
    for year in (today.year, today.year - 1):
        start = date(year, month, day)
        if start + timedelta(days=length) <= today:
            return start, start + timedelta(days=length)
    raise ValueError("no such holiday")


def windows(today):
    """Return every expression known here with its window as of the given date."""
    monday = today - timedelta(days=today.weekday())
    week = timedelta(days=7)
    found = {
        "昨天": day_window(today - timedelta(days=1)),
        "前天": day_window(today - timedelta(days=2)),
        "大前天": day_window(today - timedelta(days=3)),
        "三天前": day_window(today - timedelta(days=3)),
        "五天前": day_window(today - timedelta(days=5)),
        "今天": day_window(today),
        "上周": (monday - week, monday),
        "上个星期": (monday - week, monday),
        "上上周": (monday - 2 * week, monday - week),
        "这周": (monday, today + timedelta(days=1)),
        "上个周末": (monday - timedelta(days=2), monday),
        "上个月": month_window(today.year, today.month - 1),
        "上上个月": month_window(today.year, today.month - 2),
        "去年": (date(today.year - 1, 1, 1), date(today.year, 1, 1)),
        "国庆的时候": last_holiday(today, 10, 1, 7),
        "五一的时候": last_holiday(today, 5, 1, 5),
        "元旦那天": last_holiday(today, 1, 1, 1),
        "双十一那天": last_holiday(today, 11, 11, 1),
        "六一那天": last_holiday(today, 6, 1, 1),
        "圣诞节那天": last_holiday(today, 12, 25, 1),
    }
    for number, name in enumerate(WEEKDAYS):
        found[f"上周{name}"] = day_window(monday - week + timedelta(days=number))
    for month in range(1, today.month):
        found[f"{month}月份"] = month_window(today.year, month)
    for number in range(1, today.day):
        found[f"{today.month}月{number}号"] = day_window(date(today.year, today.month, number))
    return found
