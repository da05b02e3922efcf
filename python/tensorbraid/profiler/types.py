"""The view of the types of nodes: a list in which the totals of each type have those of all types after it."""

from tensorbraid import proto
from tensorbraid.profiler.trees import ROOT, Shown, fill_many, in_order, is_shown

__all__ = []


class Types:
    """The types of a profile's nodes."""

    def __init__(self, profile):
        self.root, self._types = Shown(ROOT), {}
        for record in profile.records.values():
            self._types.setdefault(record.node.op, Shown(record.node.op)).records[record.name] = record

    def select(self, options):
        """Counts the types and returns those that are shown."""
        types = [kind for _, kind in sorted(self._types.items())]
        for kind in types:
            kind.count(options)
            kind.reset(True)
        counted = [kind for kind in in_order(types, options, True) if kind.counted]
        self._sum(counted)
        start = 0 if options.start.everything else next(
            (i for i, kind in enumerate(counted) if options.start.matches(kind.name)), len(counted))
        shown = []
        for depth, kind in enumerate(counted[start:]):
            if options.trim.matches(kind.name) or depth > options.max_depth:
                break
            if len(kind.counted_records) >= options.minimum["occurrence"] and is_shown(kind, options, depth, True):
                shown.append(kind)
        if options.displayed_only:
            for kind in shown:
                kind.reset(True)
            self._sum(shown)
        return shown

    def _sum(self, types):
        below = None
        for kind in reversed(types):
            if below is not None:
                kind.add(below)
            below = kind
        self.root.reset(False)
        if below is not None:
            self.root.add(below)


def message_of(root, shown, options, records):
    """The MultiGraphNodeProto of the root, whose only child is the first type, which has the second as its child."""
    result = proto.MultiGraphNodeProto()
    fill_many(result, root, options, records)
    message = result
    for kind in shown:
        message = message.children.add()
        fill_many(message, kind, options, records)
    return result
