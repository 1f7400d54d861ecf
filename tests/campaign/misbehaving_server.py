"""An S3 server that misbehaves after it has done what one request asked for; tables that are changed there. See tests/campaign/nothing_lost."""
import collections
import functools
import itertools
import os

import pyarrow
import with_servers

import cfile

REGION = {"region": "us-east-1"}


class Misbehaving(with_servers.Proxy):
    """Does what `count` requests that write ask for, from number `at` on, and then misbehaves as `how` says. "not done": it does not do it."""
    at, count, how = 1, 0, ""
    writes = 0  # requests that write
    meanwhile = None  # what another writer does before the answer to that request, if it is for table.cft

    def disturb(self, body, attempt):
        with self.lock:
            Misbehaving.writes += self.command not in ("GET", "HEAD")
            now = self.command not in ("GET", "HEAD") and self.at <= Misbehaving.writes < self.at + self.count
        if not now:
            return self.respond(*self.forward(body))
        if self.how == "not done":
            return self.error(503, "SlowDown")
        status, headers, content = self.forward(body)
        if self.path.endswith("table.cft") and self.meanwhile is not None:
            other, Misbehaving.meanwhile = self.meanwhile, None
            other()
        if self.how == "no answer":
            return self.cut()
        if self.how == "half an answer":
            return self.respond(status, headers, content or b"<x/>", len(content) // 2)
        if self.how in ("500", "503"):
            return self.error(int(self.how), "InternalError" if self.how == "500" else "SlowDown")
        return self.respond(*self.forward(body))  # the request has arrived twice


CALLS = 9  # of a round
HOWS = ("no answer", "half an answer", "500", "503", "twice", "not done")


@functools.cache
def servers():
    """The endpoints of the server and of the proxy. They run until the process ends."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret", "HOME": "/nonexistent"}
    _, port = with_servers.start_moto()
    return tuple(f"http://{with_servers.HOST}:{number}" for number in (port, with_servers.start(Misbehaving, port)))


def table_of(chance, names=("a", "b")):
    """Rows that no other call makes."""
    rows = chance.randrange(1, 4)
    return pyarrow.table({name: [chance.randrange(2**62) for _ in range(rows)] for name in names})


def rows_of(url, endpoint):
    """The rows, each as pairs of a name and a value, with the number of times that they occur; None if there is no table."""
    try:
        rows = cfile.open(url, storage_options=REGION | {"endpoint": endpoint}).to_pylist()
    except cfile.NotFoundError:
        return None
    return collections.Counter(tuple(sorted(row.items(), key=str)) for row in rows)


def counted(table):
    return collections.Counter(tuple(sorted(row.items(), key=str)) for row in table.to_pylist())


def commit_new(url, new, id, storage_options):
    cfile.commit(url, [cfile.write_part(url, new, storage_options=storage_options)], id=id, storage_options=storage_options)


def change(chance, url, storage_options):
    """A random change as a function, and what it makes of the rows."""
    opened = cfile.open(url, storage_options=storage_options)
    parts, old, names = opened.parts, opened.to_arrow(), opened.columns
    new, wide = table_of(chance, names), table_of(chance, (names[0], "wide"))
    dropped = chance.randrange(len(parts)) if parts else 0
    ends = list(itertools.accumulate([part["num_rows"] for part in parts], initial=0))
    rest = pyarrow.concat_tables([old[:ends[dropped]], old[ends[dropped + 1]:]]) if parts else old
    dropped = [part["name"] for part in parts][dropped:dropped + 1]
    name = f"n{chance.randrange(10**6)}"
    values = pyarrow.table({name: [chance.randrange(9) for _ in range(len(old))]})
    work = str(chance.random())
    call = functools.partial
    to = {"storage_options": storage_options}
    return chance.choice([
        (call(cfile.append, url, new, **to), counted(old) + counted(new)),
        (call(cfile.append, url, new, replacing=dropped, **to), counted(rest) + counted(new)),
        (call(cfile.append, url, wide, evolve=True, **to), counted(pyarrow.concat_tables([old, wide], promote_options="permissive"))),
        (call(cfile.compact, url, **to), counted(old)),
        (call(cfile.drop_parts, url, dropped, **to), counted(rest)),
        (call(cfile.add_column, url, name, "int64", default=5, **to), counted(old.append_column(name, pyarrow.array([5] * len(old))))),
        (call(cfile.add_columns, url, values, **to), counted(old.append_column(name, values[name]))),
        (call(cfile.rename_column, url, names[-1], name, **to), counted(old.rename_columns([*names[:-1], name]))),
        (call(cfile.reorder_columns, url, names[::-1], **to), counted(old)),
        (call(commit_new, url, new, "", **to), counted(old) + counted(new)),
        (call(commit_new, url, new, work, **to), counted(old) + counted(new)),
        (call(cfile.collect_garbage, url, 0, **to), counted(old)),
        (call(cfile.repair, url, **to), counted(old)),
    ])


def change_table(chance, folder):
    """Makes a table and changes it, each time at a step where the server misbehaves. Asserts that a call that returns has made its change
    once, and that a call that raises has not made it. Returns the number of calls."""
    direct, misbehaving = servers()
    here, there = REGION | {"endpoint": direct}, REGION | {"endpoint": misbehaving}
    url = ""
    for number in range(CALLS):
        if number % 3 == 0:
            url = f"s3://bucket/{folder.name}/{number}"
        before = rows_of(url, direct)
        if before is None:
            new = table_of(chance)
            made, after = functools.partial(cfile.write, url, new, storage_options=there), counted(new)
        else:
            made, after = change(chance, url, there)
        other = table_of(chance, [name for name, _ in next(iter(before))]) if before else None
        Misbehaving.meanwhile = None
        is_append = made.func in (cfile.append, commit_new) and "replacing" not in made.keywords and "evolve" not in made.keywords
        if other is not None and is_append and chance.random() < 0.5:
            Misbehaving.meanwhile = functools.partial(cfile.append, url, other, storage_options=here)
        planned = Misbehaving.meanwhile
        Misbehaving.writes, Misbehaving.at, Misbehaving.how = 0, chance.randrange(1, 9), chance.choice(HOWS)
        Misbehaving.count = chance.choice([1, 1, 1, 3, 10**6])
        what = f"{number}: {made.func.__name__} {made.keywords}, {Misbehaving.how} at {Misbehaving.at}, {Misbehaving.count} times"
        try:
            made()
            error = None
        except cfile.Error as caught:
            error = caught
        Misbehaving.count = 0
        if planned is not None and Misbehaving.meanwhile is None:
            after, before = after + counted(other), before + counted(other)
            what += ", another writer has committed"
        found = rows_of(url, direct)
        assert found == (before if error else after), (
            f"{what}: {error!r}: before {before}, after {after}, found {found} ({Misbehaving.writes} requests that write)")
    return CALLS
