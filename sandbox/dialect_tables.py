"""Names of Python's library, and what stands for each in a bridged program.

Pure data; any thread.
"""

from __future__ import annotations

import calendar
import sys
import uuid

# Host functions (`__dd_` names that the prelude does not define) carry the call's position.
REPLACED_FUNCTIONS: dict[str, str] = {
    "os.chmod": "__dd_chmod",
    "os.utime": "__dd_utime",
    "os.removedirs": "__dd_removedirs",
    "os.renames": "__dd_renames",
    "os.access": "__dd_access",
    "os.lstat": "__dd_lstat",
    "os.path.samefile": "__dd_samefile",
    "os.path.lexists": "__dd_lexists",
    "os.chdir": "__dd_chdir",
    "os._exit": "__dd_exit",
    "os.getlogin": "__dd_getlogin",
    "os.getpid": "__dd_getpid",
    "sys.exit": "__dd_exit",
    "exit": "__dd_exit",
    "quit": "__dd_exit",
    "SystemExit": "__dd_exit",
    "sys.stdout.write": "__dd_write_out",
    "sys.stderr.write": "__dd_write_out",
    "sys.stdout.flush": "__dd_nothing",
    "sys.stderr.flush": "__dd_nothing",
    "sys.setrecursionlimit": "__dd_nothing",
    "sys.stdout.reconfigure": "__dd_nothing",
    "datetime.datetime.fromtimestamp": "__dd_fromtimestamp",
    "datetime.datetime.utcfromtimestamp": "__dd_utcfromtimestamp",
    "datetime.date.fromtimestamp": "__dd_datefromtimestamp",
    "pathlib.Path.home": "__dd_home",
    "re.sub": "__dd_re_sub",
    "re.subn": "__dd_re_subn",
    "str.maketrans": "__dd_maketrans",
    "datetime.datetime.today": "__dd_today",
    "datetime.datetime.utcnow": "__dd_utcnow",
    "datetime.datetime.fromordinal": "__dd_fromordinal",
    "datetime.date.fromordinal": "__dd_datefromordinal",
    "datetime.date.fromisocalendar": "__dd_fromisocalendar",
    "dataclasses.asdict": "__dd_asdict",
    "dataclasses.astuple": "__dd_astuple",
    "functools.wraps": "__dd_wraps",
    "vars": "__dd_vars",
    "callable": "__dd_callable",
    "string.Template": "__dd_Template",
    "uuid.uuid4": "__dd_uuid4",
    "os.fdopen": "__dd_fdopen",
    "os.close": "__dd_nothing",
    "shutil.make_archive": "__dd_shutil_archive",
    "shutil.unpack_archive": "__dd_shutil_unpack",
    "hashlib.file_digest": "__dd_file_digest",
    "tomllib.load": "__dd_toml_load",
    "csv.Sniffer": "__dd_Sniffer",
    "difflib.SequenceMatcher": "__dd_Matcher",
    "urllib.parse.urlparse": "__dd_urlparse",
    "urllib.parse.urlsplit": "__dd_urlparse",
    "io.TextIOWrapper": "__dd_text_wrapper",
    "csv.reader": "__dd_csv_reader",
    "csv.DictReader": "__dd_csv_dict_reader",
    "json.dump": "__dd_json_dump",
    "json.dumps": "__dd_json_dumps",
    "collections.ChainMap": "__dd_ChainMap",
    "functools.cmp_to_key": "__dd_cmp_to_key",
    "functools.cache": "__dd_cache",
    "dataclasses.replace": "__dd_dataclass_replace",
    "dataclasses.fields": "__dd_dataclass_fields",
    "calendar.Calendar": "__dd_Calendar",
    "calendar.TextCalendar": "__dd_Calendar",
    "urllib.parse.urlunparse": "__dd_urlunparse",
    "urllib.parse.urlunsplit": "__dd_urlunsplit",
    "uuid.UUID": "__dd_uuid_of",
    "uuid.uuid3": "__dd_uuid3",
    "uuid.uuid5": "__dd_uuid5",
    "uuid.uuid1": "__dd_uuid4",
    "int.from_bytes": "__dd_from_bytes",
    "asyncio.wait_for": "__dd_wait_for",
    "asyncio.to_thread": "__dd_to_thread",
    "asyncio.Semaphore": "__dd_Semaphore",
    "asyncio.BoundedSemaphore": "__dd_Semaphore",
    "asyncio.Lock": "__dd_Semaphore",
    "typing.cast": "__dd_cast",
    "csv.register_dialect": "__dd_csv_register",
    "shutil.ignore_patterns": "__dd_ignore_patterns",
    "shutil.copyfileobj": "__dd_copyfileobj",
    "textwrap.indent": "__dd_indent",
    "shutil.disk_usage": "__dd_disk_usage",
}

REPLACED_METHODS: dict[str, str] = {
    "touch": "__dd_touch",
    "subn": "__dd_re_subn",
    "chmod": "__dd_chmod",
    "lstat": "__dd_lstat",
    "samefile": "__dd_samefile",
    "relative_to": "__dd_relative_to",
    "is_relative_to": "__dd_is_relative_to",
    "expanduser": "__dd_expanduser",
    "as_uri": "__dd_as_uri",
    "translate": "__dd_translate",
    "format_map": "__dd_format_map",
    "difference_update": "__dd_difference_update",
    "intersection_update": "__dd_intersection_update",
    "isocalendar": "__dd_isocalendar",
    "toordinal": "__dd_toordinal",
    "is_integer": "__dd_is_integer",
    "timetuple": "__dd_timetuple",
    "to_bytes": "__dd_to_bytes",
    "ctime": "__dd_ctime",
    "move_to_end": "__dd_move_to_end",
    "bit_length": "__dd_bit_length",
}
REPLACED_ATTRIBUTES: dict[str, str] = {
    "os.F_OK": "0",
    "os.X_OK": "1",
    "os.W_OK": "2",
    "os.R_OK": "4",
    "os.PathLike": "__dd_type",
    "datetime.UTC": "__dd_utc",
    "sys.platform": repr(sys.platform),
    "sys.path": "[]",
    "re.VERBOSE": "64",
    "re.X": "64",
    **{
        f"uuid.NAMESPACE_{name}": f"__dd_uuid_of({str(getattr(uuid, f'NAMESPACE_{name}'))!r})"
        for name in ("DNS", "URL", "OID", "X500")
    },
    **{f"calendar.{name.upper()}": str(day) for day, name in enumerate(calendar.day_name)},
}

# In a program with verbose patterns, which the interpreter does not know.
VERBOSE_FUNCTIONS = {
    f"re.{name}": f"__dd_verbose_{name}"
    for name in ("compile", "search", "match", "fullmatch", "findall", "finditer", "split")
}
