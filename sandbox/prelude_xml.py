"""`xml.etree.ElementTree` in the interpreter's own Python.

Owns the classes that programs see; parsing is the host's. Fed only to programs that use one of
them. Pure; any thread.
"""

from __future__ import annotations

XML_PRELUDE = """
class __dd_Element:
    def __init__(self, tag, attrib=None, **extra):
        self.tag = tag
        self.attrib = {**(attrib or {}), **extra}
        self.text = None
        self.tail = None
        self.children = []

    def __repr__(self):
        return '<Element ' + repr(self.tag) + '>'

    def __len__(self):
        return len(self.children)

    def __iter__(self):
        return iter(self.children)

    def __getitem__(self, index):
        return self.children[index]

    def get(self, key, default=None):
        return self.attrib.get(key, default)

    def set(self, key, value):
        self.attrib[key] = value

    def keys(self):
        return self.attrib.keys()

    def items(self):
        return self.attrib.items()

    def append(self, child):
        self.children.append(child)

    def extend(self, children):
        self.children.extend(list(children))

    def insert(self, index, child):
        self.children.insert(index, child)

    def remove(self, child):
        for place, other in enumerate(self.children):
            if other is child:
                self.children.pop(place)
                return None
        raise ValueError('list.remove(x): x not in list')

    def below(self):
        found = [self]
        for child in self.children:
            found.extend(child.below())
        return found

    def iter(self, tag=None):
        return iter([e for e in self.below() if tag in (None, '*') or e.tag == tag])

    def itertext(self):
        found = [self.text] if self.text else []
        for child in self.children:
            found.extend(child.itertext())
            if child.tail:
                found.append(child.tail)
        return iter(found)

    def findall(self, path, namespaces=None):
        return __dd_xml_find([self], path, namespaces)

    def iterfind(self, path, namespaces=None):
        return iter(self.findall(path, namespaces))

    def find(self, path, namespaces=None):
        found = self.findall(path, namespaces)
        return found[0] if found else None

    def findtext(self, path, default=None, namespaces=None):
        found = self.find(path, namespaces)
        return default if found is None else (found.text or '')


def __dd_xml_find(elements, path, namespaces):
    deep = False
    for step in __dd_re.findall('//|[^/\\\\[]+(?:\\\\[[^\\\\]]*\\\\])*', path):
        if step == '//':
            deep = True
            continue
        tests = __dd_re.findall('\\\\[([^\\\\]]*)\\\\]', step)
        tag = step.split('[')[0]
        if tag == '.':
            continue
        if ':' in tag and namespaces and not tag.startswith('{'):
            prefix, _, local = tag.partition(':')
            tag = '{' + namespaces[prefix] + '}' + local
        found = []
        for element in elements:
            inner = element.below()[1:] if deep else element.children
            matched = [e for e in inner if tag == '*' or e.tag == tag]
            for test in tests:
                matched = __dd_xml_test(matched, test)
            found.extend(matched)
        elements = found
        deep = False
    return elements


def __dd_xml_test(elements, test):
    if test.isdigit():
        return elements[int(test) - 1:int(test)]
    if test == 'last()':
        return elements[-1:]
    name, equals, value = test.partition('=')
    value = value.strip()[1:-1]
    name = name.strip()
    if name.startswith('@'):
        if not equals:
            return [e for e in elements if name[1:] in e.attrib]
        return [e for e in elements if e.attrib.get(name[1:]) == value]
    if not equals:
        return [e for e in elements if e.find(name) is not None]
    return [e for e in elements if any([c.text == value for c in e.findall(name)])]


def __dd_xml_made(found):
    element = __dd_Element(found[0], found[1])
    element.text = found[2]
    element.tail = found[3]
    element.children = [__dd_xml_made(child) for child in found[4]]
    return element


def __dd_xml_plain(element):
    children = [__dd_xml_plain(child) for child in element.children]
    return (element.tag, element.attrib, element.text, element.tail, children)


class __dd_ElementTree:
    def __init__(self, element=None, file=None):
        self.root = element

    def getroot(self):
        return self.root

    def find(self, path, namespaces=None):
        return self.root.find(path, namespaces)

    def findall(self, path, namespaces=None):
        return self.root.findall(path, namespaces)

    def findtext(self, path, default=None, namespaces=None):
        return self.root.findtext(path, default, namespaces)

    def iter(self, tag=None):
        return self.root.iter(tag)

    def write(self, file, encoding='us-ascii', xml_declaration=None, default_namespace=None,
              method='xml', short_empty_elements=True):
        data = __dd_xml_text(
            __dd_xml_plain(self.root), encoding, xml_declaration, method, short_empty_elements
        )
        if hasattr(file, 'write'):
            file.write(data)
        elif isinstance(data, str):
            __dd_Path(file).write_text(data)
        else:
            __dd_Path(file).write_bytes(data)


def __dd_xml_from(text, parser=None):
    return __dd_xml_made(__dd_parsed(__dd_xml_parse(text)))


def __dd_xml_load(source, parser=None):
    data = source.read() if hasattr(source, 'read') else __dd_Path(source).read_bytes()
    return __dd_ElementTree(__dd_xml_from(data))


def __dd_xml_sub(parent, tag, attrib=None, **extra):
    child = __dd_Element(tag, attrib, **extra)
    parent.children.append(child)
    return child


def __dd_xml_tostring(element, encoding='us-ascii', method='xml', xml_declaration=None,
                      short_empty_elements=True):
    return __dd_xml_text(
        __dd_xml_plain(element), encoding, xml_declaration, method, short_empty_elements
    )


def __dd_xml_indent(tree, space='  ', level=0):
    element = tree.root if isinstance(tree, __dd_ElementTree) else tree
    if element.children:
        inner = chr(10) + space * (level + 1)
        if not element.text or not element.text.strip():
            element.text = inner
        for child in element.children:
            __dd_xml_indent(child, space, level + 1)
            if not child.tail or not child.tail.strip():
                child.tail = inner
        last = element.children[-1]
        if not last.tail.strip():
            last.tail = chr(10) + space * level


__dd_module_xml_etree_ElementTree = __dd_Module()
__dd_module_xml_etree_ElementTree.Element = __dd_Element
__dd_module_xml_etree_ElementTree.ElementTree = __dd_ElementTree
__dd_module_xml_etree_ElementTree.SubElement = __dd_xml_sub
__dd_module_xml_etree_ElementTree.parse = __dd_xml_load
__dd_module_xml_etree_ElementTree.fromstring = __dd_xml_from
__dd_module_xml_etree_ElementTree.XML = __dd_xml_from
__dd_module_xml_etree_ElementTree.tostring = __dd_xml_tostring
__dd_module_xml_etree_ElementTree.indent = __dd_xml_indent
__dd_module_xml_etree_ElementTree.ParseError = __dd_ParseError
"""
