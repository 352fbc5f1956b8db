"""Make the text that `manpages_zh.yaml` asks about: some Chinese man pages, as plain UTF-8 files.

The pages come from the Debian package named in that file's `source` block. Unpack it anywhere (an
installed copy also does, where man pages are not left out of the image):

    apt-get download manpages-zh
    dpkg-deb -x manpages-zh_*_all.deb unpacked
    python3 make_manpages_text.py unpacked/usr/share/man/zh_CN text

writes one `NAME.SECTION.txt` per page into `text` and prints the number of pages, their bytes, and the
sha256 of all of them joined in the order of their names (as bytes).

The roff is read here, not by groff: at 80 columns groff 1.22.4 had not finished df.1 after six minutes, and
its line breaks differ between versions. The title and the foot of a page (`.TH`) are left out; otherwise
`man` shows the same Chinese characters, page by page. What is read is what these pages use of the man and mdoc macros:
fonts are dropped, escapes become the characters they stand for, macros and strings that a page defines
are expanded, `.if n` is taken and `.if t` is not. A filled paragraph is one line, whatever its length: its
source lines are joined by a space, except between two Chinese characters. Lines of examples (`.nf`) stay
as they are. Headings begin at the margin and everything else is indented by three spaces. A table is one
line per row, its cells separated by " | ". Nothing but the standard library is used.
"""

import argparse
import gzip
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

PAGES = tuple(
    """
    ac.1 at.1 bzip2.1 cal.1 cat.1 chattr.1 chgrp.1 chmod.1 chown.1 clear.1 col.1 comm.1 cp.1 cpio.1 cut.1
    date.1 dd.1 df.1 diff.1 dig.1 du.1 echo.1 eject.1 env.1 expand.1 expr.1 file.1 find.1 finger.1 fmt.1
    fold.1 free.1 ftp.1 grep.1 groups.1 gvim.1 gzip.1 head.1 host.1 hostname.1 hostnamectl.1 iconv.1 id.1
    info.1 install.1 journalctl.1 kill.1 killall.1 last.1 ldd.1 ln.1 localectl.1 lockfile.1 loginctl.1
    ls.1 lsattr.1 mail.1 md5sum.1 mesg.1 mkdir.1 mkfifo.1 mknod.1 mktemp.1 more.1 mpg123.1 msmtp.1 mv.1
    nice.1 nl.1 nohup.1 nproc.1 od.1 paste.1 pinky.1 pr.1 printenv.1 printf.1 pwd.1 quota.1 readlink.1
    realpath.1 rm.1 rmdir.1 scp.1 sed.1 seq.1 setleds.1 sha256sum.1 showkey.1 shuf.1 sleep.1 smbclient.1
    sort.1 split.1 ssh.1 stat.1 stdbuf.1 strings.1 stty.1 sync.1 systemctl.1 systemd-inhibit.1
    systemd-resolve.1 tac.1 tail.1 tar.1 tee.1 test.1 timedatectl.1 timeout.1 touch.1 truncate.1 tty.1
    uname.1 uniq.1 uptime.1 users.1 w.1 wall.1 wc.1 who.1 whoami.1 xargs.1 xmodmap.1 xpdf.1 xxd.1 yes.1
    zipinfo.1 zless.1
    aliases.5 environ.5 group.5 host.conf.5 hostname.5 inittab.5 issue.5 journald.conf.5 localtime.5
    logind.conf.5 machine-info.5 nsswitch.5 os-release.5 proc.5 resolver.5 securetty.5 services.5
    shells.5
    file-hierarchy.7 glob.7 hier.7 mailaddr.7 regex.7 signal.7 suffix.7 unicode.7 utf-8.7
    badblocks.8 chroot.8 cron.8 dmesg.8 edquota.8 exportfs.8 fdisk.8 fsck.8 halt.8 hdparm.8 ifconfig.8
    iptables.8 losetup.8 lspci.8 mkfs.8 mkswap.8 netstat.8 ping.8 quotacheck.8 repquota.8 route.8 rpm.8
    showmount.8 shutdown.8 swapon.8 tzselect.8 umount.8 vmstat.8
    """.split()  # noqa: SIM905 - easier to read
)

INDENT = "   "
MAX_DEPTH = 20  # of a macro that calls another

GLYPHS = {
    "aq": "'", "dq": '"', "oq": "‘", "cq": "’", "lq": "“", "rq": "”", "bu": "·", "co": "©", "rg": "®",
    "tm": "™", "em": "—", "en": "–", "hy": "-", "mi": "-", "rs": "\\", "ti": "~", "ha": "^", "ga": "`",
    "aa": "´", "ul": "_", "sl": "/", "ba": "|", "bv": "|", "or": "|", "at": "@", "sh": "#", "Do": "$",
    "->": "→", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠", "==": "≡", "mu": "×", "+-": "±", "de": "°",
    "sc": "§", "sq": "□", "Fo": "«", "Fc": "»", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "<",
    "ra": ">", "pl": "+", "eq": "=", "**": "*", "fm": "'", "dg": "†", "ss": "ß", ":a": "ä", ":o": "ö",
    ":u": "ü", "'e": "é", "`e": "è", "'a": "á", "`a": "à", "^e": "ê", "12": "½", "14": "¼", "..": "…",
}  # fmt: skip
STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "S": "", "Aq": "'", "q": '"', "C+": "C++",
           "L\"": '"', "R\"": '"', "C`": "", "C'": "", "--": "--", "PI": "pi", "Lt": "<", "Gt": ">",
           "Le": "<=", "Ge": ">=", "Ba": "|", "Ne": "!=", "Px": "POSIX", "Ai": "ANSI"}  # fmt: skip
MDOC_SELF = {"Nm", "Fl", "Ar", "Op", "Oo", "Oc", "Pa", "Sx", "Xr", "Cm", "Ic", "Dq", "Sq", "Ql", "Qq", "Pq", "Aq",
             "Bq", "Brq", "Li", "Em", "Sy", "Ev", "Va", "Vt", "Ad", "Er", "Fn", "Tn", "No", "Ns", "Ux", "Bx",
             "Nx", "Fx", "At", "St", "Nd", "An", "Dv", "Do", "Dc", "So", "Sc", "Po", "Pc", "Qo", "Qc", "Bo",
             "Bc", "Ao", "Ac", "Eo", "Ec", "Pf", "Ap", "Lk", "Mt", "Ms", "Xo", "Xc", "Cd", "Fa", "Ft", "In",
             "%A", "%T", "%J", "%R", "%D", "%B", "%N", "%V", "%O", "%P", "%Q", "%I"}  # fmt: skip
MDOC_PAIRS = {"Op": "[]", "Dq": "“”", "Sq": "‘’", "Ql": "‘’", "Qq": '""', "Pq": "()", "Aq": "<>", "Bq": "[]",
              "Brq": "{}"}  # fmt: skip
MDOC_OPEN = {"Oo": "[", "Do": "“", "So": "‘", "Po": "(", "Qo": '"', "Bo": "[", "Ao": "<"}
MDOC_CLOSE = {"Oc": "]", "Dc": "”", "Sc": "’", "Pc": ")", "Qc": '"', "Bc": "]", "Ac": ">"}
MDOC_NAMES = {"Ux": "UNIX", "Bx": "BSD", "Nx": "NetBSD", "Fx": "FreeBSD", "At": "AT&T UNIX", "Ap": "'"}

ESCAPE = re.compile(
    r"""\\(?:
    (?P<comment>["\#].*)
  | \((?P<two>..)
  | \[(?P<long>[^\]]*)\]
  | \*(?:\((?P<str2>..)|\[(?P<strl>[^\]]*)\]|(?P<str1>.))
  | [fFgkmMnV](?:\(..|\[[^\]]*\]|[+-]?.)
  | s(?:[+-]?\(..|[+-]?\[[^\]]*\]|\([+-]..|[+-]?[0-9]|[+-]?'[^']*')
  | [hvwDlLoRSHxXZbN](?P<q>['"]).*?(?P=q)
  | (?P<other>.)
  | $
  )""",
    re.VERBOSE,
)


def wide(char: str) -> bool:
    """Is this a character of Chinese text (written without spaces round it)?"""
    return unicodedata.east_asian_width(char) in "WF"


def joined(left: str, right: str) -> str:
    """Two pieces of a filled paragraph as one."""
    if not left or not right:
        return left + right
    if left[-1].isspace() or right[0].isspace() or (wide(left[-1]) and wide(right[0])):
        return left + right
    return f"{left} {right}"


def arguments(rest: str) -> list[str]:
    """The arguments of a request: separated by spaces, quoted by double quotes."""
    found: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at] in " \t":
            at += 1
            continue
        if rest.startswith('\\"', at):
            break
        piece = ""
        if rest[at] == '"':
            at += 1
            while at < len(rest):
                if rest.startswith('""', at):
                    piece, at = piece + '"', at + 2
                elif rest[at] == '"':
                    at += 1
                    break
                elif rest[at] == "\\" and at + 1 < len(rest):
                    piece, at = piece + rest[at : at + 2], at + 2
                else:
                    piece, at = piece + rest[at], at + 1
        else:
            while at < len(rest) and rest[at] not in " \t":
                size = 2 if rest[at] == "\\" and at + 1 < len(rest) else 1
                piece, at = piece + rest[at : at + size], at + size
        found.append(piece)
    return found


class Page:
    """One page on its way from roff to plain text."""

    def __init__(self, name: str) -> None:
        self.title = f"{name.rpartition('.')[0]}({name.rpartition('.')[2]})"
        self.out: list[str] = [self.title]
        self.paragraph = ""
        self.glue = False  # the next piece follows without a space (\c)
        self.fill = True
        self.wants_tag = False  # the next line is the tag of a .TP
        self.strings = dict(STRINGS)
        self.macros: dict[str, list[str]] = {}
        self.mdoc_name = ""
        self.conditions: list[bool] = []
        self.depth = 0

    def plain(self, text: str) -> str:
        """The text with its escapes read."""

        def one(match: re.Match[str]) -> str:
            groups = match.groupdict()
            if groups["two"] is not None:
                return GLYPHS.get(groups["two"], "")
            if (long := groups["long"]) is not None:
                if re.fullmatch(r"u[0-9A-Fa-f]{4,6}", long):
                    return chr(int(long[1:], 16))
                return GLYPHS.get(long, "")
            for kind in ("str2", "strl", "str1"):
                if (key := groups[kind]) is not None:
                    value = self.strings.get(key, "")
                    return ESCAPE.sub(one, value)
            other = groups["other"]
            if other is None:
                return ""
            return {"-": "-", "e": "\\", "\\": "\\", "~": " ", "0": " ", " ": " ", "t": "\t", "'": "'",
                    "`": "`", ".": ".", "_": "_"}.get(other, "")  # fmt: skip

        return ESCAPE.sub(one, text)

    def flush(self) -> None:
        """End the paragraph that is being filled."""
        line = re.sub(r"[ \t\u00a0]+", " ", self.paragraph).strip()
        self.paragraph, self.glue = "", False
        if line:
            self.out.append(INDENT + line)

    def gap(self) -> None:
        """An empty line, unless there is one or a heading stands above."""
        self.flush()
        if self.out[-1].startswith(INDENT):
            self.out.append("")

    def heading(self, text: str) -> None:
        """A heading of a section."""
        self.flush()
        self.fill, self.wants_tag = True, False
        if text.strip():
            self.out += ["", re.sub(r"\s+", " ", text).strip()]

    def text(self, raw: str) -> None:
        """A line of text (fonts and escapes not yet read)."""
        glue = raw.endswith("\\c")
        line = self.plain(raw)
        if not self.fill:
            self.flush()
            self.out.append((INDENT + line.replace("\t", "    ").rstrip()) if line.strip() else "")
            return
        if not line.strip():
            if not raw.strip():
                self.gap()
            self.glue = self.glue or glue
            return
        if line[0] in " \t" and not self.glue:
            self.flush()
        self.paragraph = self.paragraph + line if self.glue else joined(self.paragraph, line)
        self.glue = glue
        if self.wants_tag:
            self.wants_tag = False
            self.flush()

    def mdoc(self, name: str, args: list[str]) -> str:  # noqa: C901 - one branch per macro
        """A line of mdoc macros as (still escaped) text."""
        words = [name, *args]
        pieces: list[str] = []
        closing: list[str] = []
        tight = False

        def put(piece: str, tight_after: bool = False) -> None:
            nonlocal tight
            stops = piece in (".", ",", ";", ":", ")", "]", "?", "!")
            pieces.append(piece if tight or stops or not pieces else " " + piece)
            tight = tight_after or piece in ("(", "[")

        at = 0
        flag = False
        while at < len(words):
            word = words[at]
            at += 1
            following = words[at] if at < len(words) else ""
            if word not in MDOC_SELF:
                put(("-" if flag else "") + word)
                continue
            flag = False
            if word == "Nm":
                if following and following not in MDOC_SELF and len(following) > 1:
                    self.mdoc_name = self.mdoc_name or following
                else:
                    put(self.mdoc_name)
            elif word == "Fl":
                flag = bool(following) and following not in MDOC_SELF
                if not flag:
                    put("-", tight_after=True)
            elif word == "Ar" and (not following or following in MDOC_SELF):
                put("file ...")
            elif word == "Xr" and at + 1 < len(words) and re.fullmatch(r"[1-9]\w?", words[at + 1]):
                put(f"{following}({words[at + 1]})")
                at += 2
            elif word in MDOC_PAIRS:
                put(MDOC_PAIRS[word][0], tight_after=True)
                closing.append(MDOC_PAIRS[word][1])
            elif word in MDOC_OPEN:
                put(MDOC_OPEN[word], tight_after=True)
            elif word in MDOC_CLOSE:
                tight = True
                put(MDOC_CLOSE[word])
            elif word in MDOC_NAMES:
                put(MDOC_NAMES[word])
            elif word == "Nd":
                put("-")
            elif word == "Ns":
                tight = True
            elif word == "Pf" and following:
                put(following, tight_after=True)
                at += 1
        line = "".join(pieces)
        stop = ""
        if closing and (match := re.search(r"[.,;:]$", line)):
            stop, line = match.group(), line[:-1]
        return line + "".join(reversed(closing)) + stop

    def condition(self, rest: str) -> tuple[bool, str]:
        """Whether an `.if` is taken, and what follows its condition."""
        match = re.match(
            r"\s*(!?)\s*('[^']*'[^']*'|\"[^\"]*\"[^\"]*\"|(?:\\.\(?\S+?|\S)*?(?=\s|\\\{|$))", rest
        )
        if match is None:
            return False, ""
        test = match.group(2)
        if test == "n" or test in ("\\n(.g", "\\n[.g]", "\\n(.g==1") or test.startswith("\\n(.g"):
            truth = True
        elif len(test) > 2 and test[0] in "'\"":
            left, _, right = test[1:-1].partition(test[0])
            truth = self.plain(left) == self.plain(right)
        else:
            truth = False
        return truth != (match.group(1) == "!"), rest[match.end() :].lstrip()

    def run(self, lines: Iterable[str]) -> None:
        """Read lines of roff."""
        source = iter(lines)
        for line in source:
            match = re.match(r"[.'][ \t]*([^\s\\]*\\?[}\"]?)", line) if line[:1] in (".", "'") else None
            if match is None:
                self.text(line)
                continue
            if name := match.group(1).rstrip('\\"}'):
                self.request(name, line[match.end() :].lstrip(" \t"), source)

    def skip_block(self, rest: str, source: Iterable[str]) -> None:
        """Pass over a block that is not taken."""
        depth = rest.count("\\{") - rest.count("\\}")
        for line in source if depth > 0 else ():
            depth += line.count("\\{") - line.count("\\}")
            if depth <= 0:
                return

    def block(self, rest: str, source: Iterable[str]) -> None:
        """Read what an `.if` that is taken guards."""
        body = [re.sub(r"\\\{\\?\s*", "", rest, count=1)]
        depth = rest.count("\\{") - rest.count("\\}")
        for line in source if depth > 0 else ():
            depth += line.count("\\{") - line.count("\\}")
            if depth <= 0:
                body.append(re.sub(r"\\\}\s*$", "", line) if line.strip() not in (".\\}", "'\\}") else "")
                break
            body.append(line)
        self.run(line for line in body if line not in ("", "\\", ".", "'"))

    def table(self, source: Iterable[str]) -> None:
        """The rows of a table, from `.TS` to `.TE`."""
        self.flush()
        separator, formats, cell = "\t", True, ""
        inside = False
        for line in source:
            if line.startswith(".TE"):
                break
            if formats:
                if match := re.search(r"tab\s*\((.)\)", line):
                    separator = match.group(1)
                formats = not line.rstrip().endswith(".")
                continue
            if line.startswith(".T&"):
                formats = True
                continue
            if inside:
                if not line.startswith("T}"):
                    if line[:1] not in (".", "'"):
                        cell = joined(cell, line)
                    elif parts := re.match(r"\.(?:B|I|BR|IR|RB|BI|IB|RI|SM)\s+(.*)", line):
                        cell = joined(cell, "".join(arguments(parts.group(1))))
                    continue
                line, inside = cell + line[2:], False  # noqa: PLW2901 - the rest of the row
            if line[:1] in (".", "'") or re.fullmatch(r"[_=\s]*", line):
                continue
            if line.endswith("T{"):
                cell, inside = line[:-2], True
                continue
            cells = [self.plain(part).strip() for part in line.split(separator)]
            self.out.append(INDENT + " | ".join(part for part in cells if part))
        self.gap()

    def request(self, name: str, rest: str, source: Iterable[str]) -> None:  # noqa: C901 - one branch per macro
        """One request or macro call."""
        if name in ("de", "de1", "am", "ig"):
            end = arguments(rest)[1] if len(arguments(rest)) > 1 else ""
            lines: list[str] = []
            for line in source:
                if re.fullmatch(rf"[.'][ \t]*{re.escape(end) if end else r'[.]'}[ \t]*", line):
                    break
                lines.append(line)
            if name in ("de", "de1") and rest:
                self.macros[rest.split()[0]] = lines
            return
        if name in ("if", "ie"):
            truth, guarded = self.condition(rest)
            if name == "ie":
                self.conditions.append(truth)
            (self.block if truth else self.skip_block)(guarded, source)
            return
        if name == "el":
            truth = not self.conditions.pop() if self.conditions else False
            (self.block if truth else self.skip_block)(rest, source)
            return
        if name in ("ds", "as"):
            key, _, value = rest.partition(" ")
            value = value.lstrip().removeprefix('"')
            if key and key not in STRINGS:
                self.strings[key] = (self.strings.get(key, "") if name == "as" else "") + value
            return
        if name == "TS":
            self.table(source)
            return
        args = arguments(rest)
        if (
            name in self.macros
            and name not in ("Vb", "Ve", "Sp", "Ip", "EX", "EE")
            and self.depth < MAX_DEPTH
        ):
            self.depth += 1
            body = "\n".join(self.macros[name]).replace("\\\\$*", rest)
            for number in range(1, 10):
                value = args[number - 1] if number <= len(args) else ""
                body = body.replace(f"\\\\${number}", value).replace(f"\\${number}", value)
            self.run(body.replace("\\\\", "\\").split("\n"))
            self.depth -= 1
            return
        self.known(name, args)

    def known(self, name: str, args: list[str]) -> None:  # noqa: C901 - one branch per macro
        """A macro of the man or mdoc packages, or a request of roff itself."""
        if name == "TH":
            return
        if name in ("SH", "SS", "Sh", "Ss"):
            self.heading(self.plain(" ".join(args)))
        elif name in ("PP", "LP", "P", "HP", "Pp", "Sp", "sp", "YS"):
            self.gap()
            self.wants_tag = False
        elif name in ("TP", "TQ"):
            self.gap() if name == "TP" else self.flush()
            self.wants_tag = True
        elif name in ("IP", "Ip"):
            self.gap()
            if args and args[0]:
                self.text(args[0])
                if len(self.plain(args[0]).strip()) > 2:
                    self.flush()
        elif name == "It":
            self.gap()
            if args:
                first = self.mdoc(args[0], args[1:]) if args[0] in MDOC_SELF else self.mdoc("No", args)
                self.text(first)
                self.flush()
        elif name in ("nf", "EX", "Vb"):
            self.flush()
            self.fill = False
        elif name in ("fi", "EE", "Ve"):
            self.flush()
            self.fill = True
        elif name == "Bd":
            self.gap()
            self.fill = not ({"-literal", "-unfilled"} & set(args))
        elif name == "Ed":
            self.gap()
            self.fill = True
        elif name in ("br", "RS", "RE", "ti", "ce", "Bl", "El", "D1", "Dl", "SY"):
            self.flush()
            self.wants_tag = False
            if name in ("D1", "Dl", "SY") and args:
                self.text(self.mdoc(args[0], args[1:]) if args[0] in MDOC_SELF else " ".join(args))
                if name != "SY":
                    self.flush()
        elif name in ("B", "I", "SM", "SB", "R", "nop"):
            if args:
                self.text(" ".join(args))
        elif name in ("BR", "RB", "BI", "IB", "IR", "RI", "CW"):
            if args:
                self.text("".join(args))
        elif name == "OP":
            self.text("[" + " ".join(args) + "]")
        elif name in ("UR", "MT", "URL"):
            if args:
                self.text(args[0])
        elif name in MDOC_SELF and (line := self.mdoc(name, args)):
            self.text(line)

    def result(self) -> str:
        """The whole page."""
        self.flush()
        text = "\n".join(line.rstrip() for line in self.out)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def page_text(name: str, roff: str) -> str:
    """A page (`ls.1`) of roff as plain text."""
    page = Page(name)
    page.run(re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", roff.replace("\r\n", "\n")).split("\n"))
    return page.result()


def read_page(folder: Path, name: str) -> str:
    """The roff of a page in a folder that holds man1, man5, man7, man8."""
    return gzip.decompress((folder / f"man{name.rpartition('.')[2][0]}" / f"{name}.gz").read_bytes()).decode()


def main() -> None:
    """Write the pages and print what they come to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("man", type=Path, help="the folder of the Chinese pages (…/usr/share/man/zh_CN)")
    parser.add_argument("out", type=Path, help="the folder to write the text into (made if it is not there)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    texts = {f"{name}.txt": page_text(name, read_page(options.man, name)).encode() for name in PAGES}
    for name, text in texts.items():
        (options.out / name).write_bytes(text)
    whole = b"".join(texts[name] for name in sorted(texts))
    print(f"{len(texts)} pages, {len(whole)} bytes, sha256 {hashlib.sha256(whole).hexdigest()}")


if __name__ == "__main__":
    main()
