"""Makes orders.jsonl: customers who tell order numbers, chat on, and then refer back to one of them."""

import json
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLEAR, AMBIGUOUS = 500, 40
COURIERS = {
    "顺丰": ("SF", 13),
    "圆通": ("YT", 13),
    "中通": ("ZTO", 14),
    "邮政": ("EMS", 13),
    "京东": ("JDVA", 11),
    "极兔": ("JT", 13),
}
SHOPS = [("", 18), ("", 19), ("", 12), ("260118-", 15), ("251103-", 15)]
WHENS = ["上周一", "上周五", "前天", "昨天晚上", "月初", "上个月底", "双十一", "大前天", "国庆", "半个月前"]
ORDINALS = ["第一个", "第二个", "第三个", "第四个"]
ACKS = ["好的，已为您记录", "收到，请您稍等", "亲，这边看到了", "好的呢，我核实一下", "嗯嗯，已备注"]
KINDS = ["tail", "product", "courier", "ordinal", "recent", "first", "promise", "when", "other"]
DOUBTFUL = ["tail", "product", "courier", "when", "promise"]


def lines(name):
    """Return the lines of a source beside this script, without comments."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("##")]


TELLINGS, PROMISES, TALK = lines("tellings.txt"), lines("promises.txt"), lines("smalltalk.txt")
PRODUCTS = [line.split("|") for line in lines("products.txt")]
ALIAS = dict(PRODUCTS)
ASKS = {
    kind: [line.split("|", 1)[1] for line in lines("asks.txt") if line.startswith(kind + "|")]
    for kind in KINDS
}


def fresh_number(rng, style):
    """Return an order number of a style (prefix, digits)."""
    prefix, length = style
    return prefix + rng.choice("123456789") + "".join(rng.choice("0123456789") for _ in range(length - 1))


def changed(rng, number, positions):
    """Return the number with one or two digits changed at the given places from its end."""
    digits = list(number)
    for place in rng.sample(positions, rng.choice((1, 2))):
        digits[-place] = rng.choice([digit for digit in "0123456789" if digit != digits[-place]])
    return "".join(digits)


def make_numbers(rng, count, kind):
    """Return (number, courier) pairs, some near-duplicates, distinct in number and in the last four digits."""
    couriers = rng.sample(list(COURIERS), count)
    if kind == "courier":
        return [(fresh_number(rng, COURIERS[courier]), courier) for courier in couriers]
    by_courier = rng.random() < 0.4
    style = COURIERS[couriers[0]] if by_courier else rng.choice(SHOPS)
    numbers = [fresh_number(rng, style)]
    while len(numbers) < count:
        near = rng.random() < 0.6
        number = changed(rng, rng.choice(numbers), range(1, 10)) if near else fresh_number(rng, style)
        # The same last four digits may stand on two numbers only where the question does not use them.
        clash = number[-4:] in {other[-4:] for other in numbers} and kind == "tail"
        if number not in numbers and not clash:
            numbers.append(number)
    return [
        (number, couriers[0] if by_courier else courier)
        for number, courier in zip(numbers, couriers, strict=False)
    ]


def make_orders(rng, kind):
    """Return the orders of one customer: number, product, courier, time of purchase."""
    count = 2 if kind == "other" else rng.choice((2, 3, 3, 4))
    products = rng.sample([product for product, _ in PRODUCTS], count)
    whens = rng.sample(WHENS, count)
    pairs = make_numbers(rng, count, kind)
    return [
        {"o": number, "c": courier, "p": product, "w": when, "t": number[-4:]}
        for (number, courier), product, when in zip(pairs, products, whens, strict=False)
    ]


def make_alike(rng, orders, kind):
    """Make the first two orders alike in what the question names."""
    if kind == "tail":
        orders[1]["o"] = changed(rng, orders[0]["o"], range(5, 10))
        orders[1]["t"], orders[1]["c"] = orders[0]["t"], orders[0]["c"]
    if kind == "product":
        orders[1]["p"] = orders[0]["p"]
    if kind == "courier":
        orders[1]["c"] = orders[0]["c"]
        orders[1]["o"] = fresh_number(rng, COURIERS[orders[0]["c"]])
        orders[1]["t"] = orders[1]["o"][-4:]
    if kind == "when":
        orders[1]["w"] = orders[0]["w"]


def telling(rng, order, kind, taken):
    """Return a telling of an order in a shape not yet used by this customer."""
    need = "{w}" if kind == "when" else "{p}"
    left = [shape for shape in TELLINGS if need in shape and shape not in taken]
    taken.append(rng.choice(left))
    return taken[-1].format(**order)


def asking(rng, number, kind, orders, target):
    """Return the question which refers to the target."""
    slots = dict(target)
    slots["a"] = (
        ORDINALS[orders.index(target)] if rng.random() < 0.8 or target is not orders[-1] else "最后一个"
    )
    if kind == "other":
        slots["p"] = next(order["p"] for order in orders if order is not target)
    if kind == "product":
        loose = ALIAS[target["p"]]
        if rng.random() < 0.5 and sum(ALIAS[product] == loose for product in {o["p"] for o in orders}) == 1:
            slots["p"] = loose
    return ASKS[kind][number % len(ASKS[kind])].format(**slots)


def target_of(rng, kind, orders):
    """Return the order a question of this kind means."""
    if kind in ("first", "recent"):
        return orders[0 if kind == "first" else -1]
    return rng.choice(orders)


def script(rng, orders, kind, promises, repeated):
    """Return the turns: tellings with small talk between, then at least 20 other turns."""
    talk, taken, said = rng.sample(TALK, len(TALK)), [], []
    told = orders + ([orders[0]] if repeated else [])
    promising = rng.sample(range(len(told)), len(promises))
    for place, order in enumerate(told):
        said += [(talk.pop(), "") for _ in range(rng.randrange(1, 6))]
        answer = rng.choice(ACKS) if rng.random() < 0.5 else ""
        if place in promising:
            answer = "好的，" + promises[promising.index(place)]
        said.append((telling(rng, order, kind, taken), answer))
    said += [(talk.pop(), "") for _ in range(rng.randrange(20, 46))]
    return [{"n": n, "text": text, **({"bot": bot} if bot else {})} for n, (text, bot) in enumerate(said, 1)]


def customer(number, ambiguous):
    """Return one customer with turns, question and answer."""
    rng = random.Random(f"orders:{ambiguous}:{number}")
    kinds = DOUBTFUL if ambiguous else KINDS
    kind = kinds[number % len(kinds)]
    orders = make_orders(rng, kind)
    if ambiguous:
        make_alike(rng, orders, kind)
    target = orders[0] if ambiguous else target_of(rng, kind, orders)
    count = 2 if ambiguous and kind == "promise" else int(kind == "promise" or rng.random() < 0.4)
    promises = rng.sample(PROMISES, count)
    repeated = not ambiguous and kind in ("tail", "product") and rng.random() < 0.25
    turns = script(rng, orders, kind, promises, repeated)
    question = {"n": len(turns) + 1, "text": asking(rng, number // len(kinds), kind, orders, target)}
    row = {
        "customer": f"{'a' if ambiguous else 'c'}{number:03}",
        "kind": kind,
        "ambiguous": ambiguous,
        "repeated": repeated,
        "orders": [order["o"] for order in orders],
        "turns": turns,
        "question": question,
    }
    if not ambiguous:
        return row | {"answer": promises[0] if kind == "promise" else target["o"]}
    alike = promises if kind == "promise" else [order["o"] for order in orders[:2]]
    return row | {"answer": None, "candidates": alike}


def main():
    """Write the customers."""
    rows = [customer(number, False) for number in range(CLEAR)]
    rows += [customer(number, True) for number in range(AMBIGUOUS)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (HERE / "orders.jsonl").write_text(text, encoding="utf-8")
    print("orders.jsonl", len(rows))


if __name__ == "__main__":
    main()
