"""Time zones by name in the interpreter's own Python; the host knows their offsets.

Fed only to programs that use one of them. Pure; any thread.
"""

from __future__ import annotations

ZONES_PRELUDE = """
__dd_zones = {}
__dd_timedelta = __dd_datetime.timedelta
__dd_Moment = __dd_datetime.datetime


class __dd_ZoneInfo:
    def __init__(self, key):
        __dd_zone_offset(key, [2000, 1, 1, 0, 0, 0, 0], True, 0)
        self.key = key

    def __str__(self):
        return self.key

    def __repr__(self):
        return 'zoneinfo.ZoneInfo(key=' + repr(self.key) + ')'

    def __eq__(self, other):
        return isinstance(other, __dd_ZoneInfo) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


def __dd_zone_parts(moment):
    return [
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second,
        moment.microsecond,
    ]


def __dd_zone_fixed(zone, parts, utc, fold):
    seconds, name = __dd_zone_offset(zone.key, parts, utc, fold)
    known = (seconds, name)
    if __dd_zones.get(known, zone) != zone:
        __dd_zones[known] = None
    else:
        __dd_zones[known] = zone
    return __dd_datetime.timezone(__dd_timedelta(seconds=seconds), name)


def __dd_zone_attached(naive, zone, fold=0):
    return naive.replace(tzinfo=__dd_zone_fixed(zone, __dd_zone_parts(naive), False, fold))


def __dd_zone_as(moment, tz=None):
    if not isinstance(tz, __dd_ZoneInfo):
        return moment.astimezone() if tz is None else moment.astimezone(tz)
    utc = moment.astimezone(__dd_utc)
    return utc.astimezone(__dd_zone_fixed(tz, __dd_zone_parts(utc), True, 0))


def __dd_zone_now(tz=None):
    if isinstance(tz, __dd_ZoneInfo):
        return __dd_zone_as(__dd_Moment.now(__dd_utc), tz)
    return __dd_Moment.now(tz)


def __dd_zone_fromtimestamp(timestamp, tz=None):
    if isinstance(tz, __dd_ZoneInfo):
        return __dd_zone_as(__dd_fromtimestamp(timestamp, __dd_utc), tz)
    return __dd_fromtimestamp(timestamp, tz)


def __dd_zone_datetime(*args, tzinfo=None, fold=0, **options):
    if isinstance(tzinfo, __dd_ZoneInfo):
        return __dd_zone_attached(__dd_Moment(*args, **options), tzinfo, fold)
    return __dd_Moment(*args, tzinfo=tzinfo, **options)


def __dd_zone_replace(moment, tzinfo=None, **options):
    if isinstance(tzinfo, __dd_ZoneInfo):
        return __dd_zone_attached(moment.replace(tzinfo=None, **options), tzinfo)
    return moment.replace(tzinfo=tzinfo, **options)


def __dd_zone_of(moment):
    if not isinstance(moment, __dd_Moment) or moment.utcoffset() is None:
        return None
    known = (int(moment.utcoffset().total_seconds()), moment.tzname())
    if known in __dd_zones and __dd_zones[known] is None:
        raise TypeError('two time zones of the program cannot be told apart here')
    return __dd_zones.get(known)


def __dd_zone_info(moment):
    return __dd_zone_of(moment) or moment.tzinfo


def __dd_zone_add(first, second):
    if isinstance(first, __dd_timedelta) and isinstance(second, __dd_Moment):
        first, second = second, first
    if isinstance(second, __dd_timedelta):
        zone = __dd_zone_of(first)
        if zone is not None:
            return __dd_zone_attached(first.replace(tzinfo=None) + second, zone)
    return first + second


def __dd_zone_sub(first, second):
    if isinstance(second, __dd_timedelta):
        zone = __dd_zone_of(first)
        if zone is not None:
            return __dd_zone_attached(first.replace(tzinfo=None) - second, zone)
    elif isinstance(second, __dd_Moment):
        zone = __dd_zone_of(first)
        if zone is not None and zone == __dd_zone_of(second):
            return first.replace(tzinfo=None) - second.replace(tzinfo=None)
    return first - second


__dd_module_zoneinfo = __dd_Module()
__dd_module_zoneinfo.ZoneInfo = __dd_ZoneInfo
__dd_module_zoneinfo.ZoneInfoNotFoundError = KeyError
"""
