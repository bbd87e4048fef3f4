"""What calls of known names do with the marks of their arguments.

Owns the lists of functions and methods that give new values and write into none of their arguments
(a name that is not here is taken to do everything), and which arguments of a call say where it
acts. Pure data.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_FUNCTIONS: frozenset[str] = _names("""
    abs all any ascii bin bool bytes bytearray chr complex divmod float format hash hex id int
    isinstance issubclass len oct ord pow print range repr round str sum type frozenset
    open input callable
    __dd_open __dd_bytes __dd_home __dd_str __dd_text __dd_show __dd_now __dd_today __dd_utcnow
    __dd_fromtimestamp __dd_relative_to __dd_is_relative_to __dd_expanduser __dd_touch __dd_chmod
    __dd_utime __dd_truncate __dd_access __dd_lstat __dd_samefile __dd_lexists __dd_removedirs
    __dd_renames
    __dd_read_text __dd_write_text __dd_translate __dd_maketrans __dd_file_digest __dd_write_out
    __dd_urlparse __dd_urlsplit __dd_ascii __dd_json_dumps __dd_at __dd_exit __dd_errno
    __dd_strerror __dd_filename __dd_name
    __dd_remove_tree __dd_ending __dd_parents __dd_match __dd_order
    """)
"""Builtins and helpers whose value is new and that call nothing they are given."""

PURE_ROOTS: frozenset[str] = _names("""
    os pathlib shutil math base64 binascii hashlib hmac urllib string textwrap datetime time uuid
    html statistics fnmatch glob unicodedata zlib struct secrets decimal fractions stat
    platform getpass calendar mimetypes
    """)
"""Modules whose functions take and give plain values, but for those in `WRITING`."""

PURE_DOTTED: frozenset[str] = _names("""
    json.dumps json.loads re.match re.search re.fullmatch re.findall re.split re.escape re.compile
    re.finditer io.StringIO io.BytesIO
    """)

WRITING: frozenset[str] = _names("""
    seed chdir register_dialect setcontext putenv setlocale field_size_limit copyfileobj readinto
    shuffle walk rmtree copytree fwalk struct.pack_into register_archive_format __dd_chdir
    """)
"""Functions of pure modules that keep what they are given, or call it."""

KEEPING: frozenset[str] = frozenset({"chdir", "__dd_chdir"})
"""Functions after which every relative path is decided by their argument."""

PLAIN_METHODS: frozenset[str] = _names("""
    lower upper strip lstrip rstrip split rsplit replace startswith endswith title casefold count
    find rfind index rindex join group groups groupdict start end span isdigit isalpha isalnum
    isnumeric isdecimal isspace isupper islower istitle isidentifier isprintable isascii splitlines
    strftime zfill removeprefix removesuffix capitalize isoformat swapcase center ljust rjust
    partition rpartition encode decode expandtabs hex timestamp
    read_text read_bytes write_text write_bytes exists is_file is_dir is_symlink stat lstat glob
    rglob iterdir rename unlink rmdir mkdir resolve absolute with_suffix with_name with_stem
    joinpath relative_to is_relative_to samefile as_posix hexdigest digest touch chmod hardlink_to
    symlink_to expanduser total_seconds fromkeys bit_length to_bytes from_bytes strptime
    """)
"""Methods of texts, paths and numbers: the owner stays as it is and the value is new."""

NEVER_CALLING: frozenset[str] = _names("""
    append add extend insert remove discard pop popitem clear update setdefault get items keys
    values copy appendleft extendleft popleft
    """)
"""Methods of containers and files: they keep what they are given and do not call it."""

FILE_METHODS: frozenset[str] = _names("""
    write writelines read read1 readline readlines close flush seek tell truncate writerow
    writeheader writerows writestr extract extractall namelist fileno isatty readable writable
    seekable
    """)
"""Methods of files: what they are given is copied into the file, what they give is new."""

WRITE_METHODS: frozenset[str] = _names(
    "write writelines writerow writerows writeheader close flush"
)
"""Methods that write to a file that is open: what they are given says what, never where."""

PATH_FIRST: frozenset[str] = _names("""
    open __dd_open __dd_write_text __dd_touch __dd_chmod __dd_utime os.mkdir os.makedirs
    os.truncate __dd_truncate
    __dd_open_update
    """)
"""Functions whose first argument alone says where they act; the rest says what."""

PATH_OWNER: frozenset[str] = frozenset(
    ["write_text", "write_bytes", "mkdir", "touch", "chmod", "open"]
)
"""Methods of a path that act where it leads, with what their arguments say."""

ALIASING: frozenset[str] = _names("""
    list dict set tuple sorted reversed enumerate zip map filter iter next min max super getattr
    setattr delattr hasattr vars classmethod staticmethod property object slice aiter anext
    memoryview type
    """)
"""Builtins whose value may hold, or be, what they are given, or that call it."""

OPENERS: frozenset[str] = frozenset({"open", "__dd_open", "__dd_open_update"})
"""Calls whose value takes what is written to the file later."""

ENDING: frozenset[str] = frozenset({"__dd_exit", "exit", "quit"})
"""Calls that end the program: whether they are reached decides on all that follows."""

WAITING: frozenset[str] = frozenset({"sleep"})
"""Calls that take time as their argument says: it can be read off what follows."""
