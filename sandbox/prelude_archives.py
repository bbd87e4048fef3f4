"""`zipfile`, `tarfile`, `gzip` and `tempfile` in the interpreter's own Python, over the host.

Owns the classes that programs see. Fed only to programs that import one of them. Pure; any thread.
"""

from __future__ import annotations

ARCHIVES_PRELUDE = """
__dd_BadArchive = __dd_error_re


def __dd_memory(file):
    return isinstance(file, (__dd_Text, __dd_Reader))


class __dd_ZipInfo:
    def __init__(self, filename='NoName', date_time=(1980, 1, 1, 0, 0, 0)):
        self.filename = filename
        self.date_time = date_time
        self.file_size = 0
        self.compress_size = 0
        self.compress_type = 8
        self.CRC = 0

    def is_dir(self):
        return self.filename.endswith('/')


def __dd_zip_info(found):
    info = __dd_ZipInfo(found[0], found[3])
    info.file_size = found[1]
    info.compress_size = found[2]
    info.CRC = found[6]
    return info


class __dd_Member:
    def __init__(self, archive, name, binary=True):
        self.archive = archive
        self.name = name
        self.parts = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def write(self, data):
        self.parts.append(data)
        return len(data)

    def close(self):
        if self.parts is not None:
            self.archive.writestr(self.name, b''.join(self.parts))
            self.parts = None


class __dd_ZipFile:
    def __init__(
        self, file, mode='r', compression=0, allowZip64=True, compresslevel=None, at=None,
        strict_timestamps=True, metadata_encoding=None
    ):
        self.mode = mode
        self.memory = file if __dd_memory(file) else None
        self.filename = None if self.memory else str(file)
        self.comment = b''
        source = file
        if self.memory is not None:
            source = file.getvalue() if mode[0] in 'ra' else None
        self.number = __dd_parsed(__dd_archive_open('zip', source, mode))
        self.stored = compression == 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def infolist(self):
        return [__dd_zip_info(found) for found in __dd_archive_members(self.number)]

    def namelist(self):
        return [found[0] for found in __dd_archive_members(self.number)]

    def getinfo(self, name):
        for info in self.infolist():
            if info.filename == name:
                return info
        raise KeyError("There is no item named " + repr(name) + " in the archive")

    def read(self, name, pwd=None):
        name = name.filename if isinstance(name, __dd_ZipInfo) else name
        self.getinfo(name)
        return __dd_parsed(__dd_archive_read(self.number, name))

    def open(self, name, mode='r', pwd=None, force_zip64=False):
        name = name.filename if isinstance(name, __dd_ZipInfo) else name
        if mode == 'w':
            return __dd_Member(self, name)
        return __dd_Reader(name, 'rb', self.read(name), None)

    def extract(self, member, path=None, pwd=None):
        name = member.filename if isinstance(member, __dd_ZipInfo) else member
        self.getinfo(name)
        path = '.' if path is None else path
        __dd_parsed(__dd_archive_extract(self.number, [name], path))
        return __dd_os.path.join(str(path), name)

    def extractall(self, path=None, members=None, pwd=None):
        names = None
        if members is not None:
            names = [m.filename if isinstance(m, __dd_ZipInfo) else m for m in members]
        __dd_parsed(__dd_archive_extract(self.number, names, '.' if path is None else path))

    def write(self, filename, arcname=None, compress_type=None, compresslevel=None):
        stored = self.stored if compress_type is None else compress_type == 0
        name = None if arcname is None else str(arcname)
        __dd_archive_add(self.number, filename, name, False, stored)

    def writestr(self, zinfo_or_arcname, data, compress_type=None, compresslevel=None):
        if isinstance(data, str):
            data = data.encode('utf-8')
        if isinstance(zinfo_or_arcname, __dd_ZipInfo):
            moment = zinfo_or_arcname.date_time
            __dd_archive_put(self.number, zinfo_or_arcname.filename, data, moment)
        else:
            __dd_archive_put(self.number, zinfo_or_arcname, data)

    def mkdir(self, name, mode=511):
        __dd_archive_put(self.number, name.rstrip('/') + '/', b'')

    def testzip(self):
        return __dd_parsed(__dd_archive_test(self.number))

    def setpassword(self, pwd):
        return None

    def printdir(self):
        print('File Name                                             Modified             Size')
        for info in self.infolist():
            d = info.date_time
            date = '%d-%02d-%02d %02d:%02d:%02d' % (d[0], d[1], d[2], d[3], d[4], d[5])
            print('%-46s %s %12d' % (info.filename, date, info.file_size))

    def close(self):
        if self.number is None:
            return None
        data = __dd_archive_close(self.number)
        self.number = None
        if self.memory is not None and self.mode[0] != 'r':
            self.memory.seek(0)
            self.memory.write(data)
        return None


class __dd_TarInfo:
    def __init__(self, name=''):
        self.name = name
        self.size = 0
        self.mtime = 0
        self.mode = 420
        self.kind = 'file'

    def isfile(self):
        return self.kind == 'file'

    def isreg(self):
        return self.kind == 'file'

    def isdir(self):
        return self.kind == 'dir'

    def issym(self):
        return self.kind == 'other'

    def islnk(self):
        return False


def __dd_tar_info(found):
    info = __dd_TarInfo(found[0])
    info.size = found[1]
    info.mtime = found[3]
    info.kind = 'dir' if found[4] else ('file' if found[5] else 'other')
    info.mode = found[6]
    return info


class __dd_TarFile:
    def __init__(self, name=None, mode='r', fileobj=None, at=None, **options):
        self.mode = mode
        self.memory = fileobj
        self.name = None if name is None else str(name)
        source = name
        if fileobj is not None:
            source = fileobj.getvalue() if mode[0] == 'r' else None
        self.number = __dd_parsed(__dd_archive_open('tar', source, mode))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def __iter__(self):
        return iter(self.getmembers())

    def getmembers(self):
        return [__dd_tar_info(found) for found in __dd_parsed(__dd_archive_members(self.number))]

    def getnames(self):
        return [found[0] for found in __dd_parsed(__dd_archive_members(self.number))]

    def getmember(self, name):
        for info in self.getmembers():
            if info.name == name:
                return info
        raise KeyError('filename ' + repr(name) + ' not found')

    def extractfile(self, member):
        info = self.getmember(member) if isinstance(member, str) else member
        if not info.isfile():
            return None
        data = __dd_parsed(__dd_archive_read(self.number, info.name))
        return __dd_Reader(info.name, 'rb', data, None)

    def extract(self, member, path='', set_attrs=True, numeric_owner=False, filter=None):
        name = member if isinstance(member, str) else member.name
        __dd_parsed(__dd_archive_extract(self.number, [name], path or '.'))

    def extractall(self, path='.', members=None, numeric_owner=False, filter=None):
        names = None
        if members is not None:
            names = [m if isinstance(m, str) else m.name for m in members]
        __dd_parsed(__dd_archive_extract(self.number, names, path))

    def add(self, name, arcname=None, recursive=True, filter=None):
        arcname = None if arcname is None else str(arcname)
        __dd_archive_add(self.number, name, arcname, recursive, None)

    def addfile(self, tarinfo, fileobj=None):
        data = b'' if fileobj is None else fileobj.read(tarinfo.size)
        __dd_archive_put(self.number, tarinfo.name, data)

    def close(self):
        if self.number is None:
            return None
        data = __dd_archive_close(self.number)
        self.number = None
        if self.memory is not None and self.mode[0] != 'r':
            self.memory.write(data)
        return None


def __dd_shutil_archive(base_name, format, root_dir=None, base_dir=None, at=None, **options):
    kinds = {'zip': ('.zip', 'zip', 'w'), 'tar': ('.tar', 'tar', 'w')}
    kinds.update(gztar=('.tar.gz', 'tar', 'w:gz'), bztar=('.tar.bz2', 'tar', 'w:bz2'))
    kinds.update(xztar=('.tar.xz', 'tar', 'w:xz'))
    if format not in kinds:
        raise ValueError('unknown archive format ' + repr(format))
    suffix, kind, mode = kinds[format]
    name = str(base_name) + suffix
    root = '.' if root_dir is None else str(root_dir)
    top = root if base_dir is None else __dd_os.path.join(root, base_dir)
    found = []
    for folder, folders, files in __dd_os.walk(top):
        for each in sorted(folders) + files:
            found.append(__dd_os.path.join(folder, each))
    folder = __dd_os.path.dirname(name)
    if folder:
        __dd_os.makedirs(folder, exist_ok=True)
    number = __dd_archive_open(kind, name, mode)
    for path in found:
        if __dd_os.path.abspath(path) != __dd_os.path.abspath(name):
            __dd_archive_add(number, path, __dd_os.path.relpath(path, root), False, None)
    __dd_archive_close(number)
    return name if base_name is None or root_dir is None else __dd_os.path.abspath(name)


def __dd_shutil_unpack(filename, extract_dir=None, format=None, at=None, **options):
    kind = 'zip' if str(filename).lower().endswith('.zip') or format == 'zip' else 'tar'
    number = __dd_parsed(__dd_archive_open(kind, filename, 'r'))
    __dd_parsed(__dd_archive_extract(number, None, '.' if extract_dir is None else extract_dir))
    __dd_archive_close(number)


class __dd_GzipWriter:
    def __init__(self, name, mode, encoding):
        self.name = name
        self.mode = mode
        self.encoding = encoding
        self.parts = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def write(self, data):
        self.parts.append(data.encode(self.encoding) if isinstance(data, str) else data)
        return len(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def close(self):
        if self.parts is not None:
            data = __dd_gzip(b''.join(self.parts))
            if 'a' in self.mode and __dd_os.path.exists(self.name):
                data = __dd_Path(self.name).read_bytes() + data
            __dd_Path(self.name).write_bytes(data)
            self.parts = None


def __dd_gzip_open(
    filename, mode='rb', compresslevel=9, encoding=None, errors=None, newline=None, at=None
):
    if 'r' not in mode:
        return __dd_GzipWriter(filename, mode, encoding or 'utf-8')
    data = filename.read() if __dd_memory(filename) else __dd_Path(filename).read_bytes()
    data = __dd_parsed(__dd_gunzip(data))
    if 't' in mode:
        data = data.decode(encoding or 'utf-8').replace(chr(13) + chr(10), chr(10))
    return __dd_Reader(str(filename), mode, data, None)


__dd_module_zipfile = __dd_Module()
__dd_module_zipfile.ZipFile = __dd_ZipFile
__dd_module_zipfile.ZipInfo = __dd_ZipInfo
__dd_module_zipfile.BadZipFile = __dd_BadArchive
__dd_module_zipfile.BadZipfile = __dd_BadArchive
__dd_module_zipfile.ZIP_STORED = 0
__dd_module_zipfile.ZIP_DEFLATED = 8
__dd_module_zipfile.ZIP_BZIP2 = 12
__dd_module_zipfile.ZIP_LZMA = 14


def __dd_is_zipfile(file):
    return __dd_is_archive('zip', file.getvalue() if __dd_memory(file) else file)


__dd_module_zipfile.is_zipfile = __dd_is_zipfile
__dd_module_tarfile = __dd_Module()
__dd_module_tarfile.open = __dd_TarFile
__dd_module_tarfile.TarFile = __dd_TarFile
__dd_module_tarfile.TarInfo = __dd_TarInfo
__dd_module_tarfile.TarError = __dd_BadArchive
__dd_module_tarfile.ReadError = __dd_BadArchive
__dd_module_tarfile.is_tarfile = lambda file: __dd_is_archive('tar', file)
__dd_module_gzip = __dd_Module()
__dd_module_gzip.open = __dd_gzip_open
__dd_module_gzip.compress = lambda data, compresslevel=9, mtime=None: __dd_gzip(data, compresslevel)
__dd_module_gzip.decompress = lambda data: __dd_parsed(__dd_gunzip(data))
__dd_module_gzip.BadGzipFile = __dd_BadArchive


class __dd_TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, ignore_cleanup_errors=False, at=None):
        self.name = __dd_temporary(suffix, prefix, dir, True)

    def __enter__(self):
        return self.name

    def __exit__(self, kind, error, trace):
        self.cleanup()
        return False

    def cleanup(self):
        if __dd_os.path.isdir(self.name):
            __dd_remove_tree(self.name)


class __dd_Descriptor:
    def __init__(self, path):
        self.path = path


def __dd_mkstemp(suffix=None, prefix=None, dir=None, text=False, at=None):
    path = __dd_temporary(suffix, prefix, dir, False)
    return (__dd_Descriptor(path), path)


def __dd_fdopen(descriptor, mode='r', buffering=-1, encoding=None, errors=None, newline=None):
    opened = __dd_open(descriptor.path, mode, buffering, encoding, errors, newline)
    return __dd_with_file(opened)


class __dd_NamedTemporaryFile:
    def __init__(
        self, mode='w+b', buffering=-1, encoding=None, newline=None, suffix=None, prefix=None,
        dir=None, delete=True, at=None, errors=None, delete_on_close=True
    ):
        self.name = __dd_temporary(suffix, prefix, dir, False)
        self.mode = mode
        self.delete = delete
        self.file = __dd_open_update(self.name, mode, buffering, encoding, errors, newline)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def write(self, data):
        return self.file.write(data)

    def writelines(self, lines):
        for line in lines:
            self.file.write(line)

    def read(self, size=-1):
        return self.file.read(size)

    def readline(self):
        return self.file.readline()

    def readlines(self):
        return self.file.readlines()

    def __iter__(self):
        return iter(self.file.readlines())

    def seek(self, offset, whence=0):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()

    def truncate(self, size=None):
        return self.file.truncate(size)

    def flush(self):
        self.file.flush()

    def close(self):
        if not self.file.closed:
            self.file.close()
            if self.delete:
                __dd_os.remove(self.name)


__dd_module_tempfile = __dd_Module()
__dd_module_tempfile.TemporaryDirectory = __dd_TemporaryDirectory
__dd_module_tempfile.NamedTemporaryFile = __dd_NamedTemporaryFile
__dd_module_tempfile.TemporaryFile = __dd_NamedTemporaryFile
__dd_module_tempfile.mkstemp = __dd_mkstemp
__dd_module_tempfile.mkdtemp = lambda suffix=None, prefix=None, dir=None: __dd_temporary(
    suffix, prefix, dir, True
)
__dd_module_tempfile.gettempdir = lambda: __dd_temporary_folder()
"""
