"""The store's tables, as a list of steps that is only ever appended to.

Times are ISO 8601 in UTC. JSON columns are written with ASCII only, so that file names that are
not valid Unicode survive. Thread: engine.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            folders TEXT NOT NULL,
            model_id TEXT NOT NULL,
            created TEXT NOT NULL,
            updated TEXT NOT NULL
        )""",
        """CREATE TABLE turns (
            id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            request TEXT NOT NULL,
            model_id TEXT NOT NULL,
            folders TEXT NOT NULL,
            status TEXT NOT NULL,
            owner TEXT NOT NULL,
            started TEXT NOT NULL,
            reply TEXT NOT NULL DEFAULT '',
            answer TEXT NOT NULL DEFAULT '',
            problem TEXT,
            changes TEXT,
            approved TEXT NOT NULL DEFAULT '[]',
            conflicts TEXT NOT NULL DEFAULT '[]',
            committed INTEGER NOT NULL DEFAULT 0,
            usage TEXT NOT NULL DEFAULT '{}',
            seconds REAL NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX turns_by_chat ON turns(chat_id, seq)",
        "CREATE INDEX turns_by_start ON turns(started)",
        """CREATE TABLE programs (
            id TEXT PRIMARY KEY,
            turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            source TEXT NOT NULL,
            bridged TEXT NOT NULL DEFAULT '',
            notes TEXT NOT NULL DEFAULT '[]',
            status TEXT NOT NULL,
            fault TEXT,
            printed TEXT NOT NULL DEFAULT '',
            value TEXT,
            wall_s REAL NOT NULL DEFAULT 0,
            calls TEXT NOT NULL DEFAULT '[]',
            file_calls INTEGER NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX programs_by_turn ON programs(turn_id, number)",
        """CREATE TABLE effects (
            id INTEGER PRIMARY KEY,
            turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
            program_id TEXT NOT NULL,
            data TEXT NOT NULL
        )""",
        "CREATE INDEX effects_by_turn ON effects(turn_id, id)",
        """CREATE TABLE journal (
            id INTEGER PRIMARY KEY,
            turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
            at TEXT NOT NULL,
            step TEXT NOT NULL,
            data TEXT NOT NULL DEFAULT '{}'
        )""",
        "CREATE INDEX journal_by_turn ON journal(turn_id, id)",
    ),
    (
        """CREATE TABLE lab_runs (
            id TEXT PRIMARY KEY,
            suite TEXT NOT NULL,
            plan TEXT NOT NULL,
            status TEXT NOT NULL,
            started TEXT NOT NULL
        )""",
        """CREATE TABLE trials (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL REFERENCES lab_runs(id) ON DELETE CASCADE,
            suite TEXT NOT NULL,
            task TEXT NOT NULL,
            capability TEXT NOT NULL,
            difficulty TEXT NOT NULL,
            model_id TEXT NOT NULL,
            mode TEXT NOT NULL,
            seed INTEGER NOT NULL,
            reward REAL NOT NULL,
            reason TEXT NOT NULL DEFAULT '',
            broken INTEGER NOT NULL DEFAULT 0,
            error_type TEXT NOT NULL DEFAULT '',
            programs INTEGER NOT NULL DEFAULT 0,
            valid INTEGER NOT NULL DEFAULT 0,
            input_tokens INTEGER NOT NULL DEFAULT 0,
            cached_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0,
            money TEXT,
            first_token_s REAL,
            seconds REAL NOT NULL DEFAULT 0,
            energy_j REAL,
            asked INTEGER NOT NULL DEFAULT 0,
            violations INTEGER NOT NULL DEFAULT 0,
            trajectory TEXT NOT NULL DEFAULT '',
            machine TEXT NOT NULL DEFAULT '',
            version TEXT NOT NULL DEFAULT '',
            at TEXT NOT NULL DEFAULT '',
            origin TEXT NOT NULL DEFAULT 'here',
            UNIQUE (run_id, model_id, mode, task, seed)
        )""",
    ),
    ("ALTER TABLE turns ADD COLUMN reasons TEXT NOT NULL DEFAULT '[]'",),
    (
        # What secrets are and where they may go. Their values are never in this file.
        """CREATE TABLE secrets (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            hosts TEXT NOT NULL,
            methods TEXT NOT NULL,
            header TEXT NOT NULL DEFAULT '',
            user TEXT NOT NULL DEFAULT '',
            keep TEXT NOT NULL,
            created TEXT NOT NULL,
            changed TEXT NOT NULL,
            used TEXT,
            uses INTEGER NOT NULL DEFAULT 0
        )""",
    ),
    (
        """CREATE TABLE grants (
            id TEXT PRIMARY KEY,
            text TEXT NOT NULL,
            scope TEXT NOT NULL,
            chat_id TEXT NOT NULL DEFAULT '',
            created TEXT NOT NULL,
            revoked TEXT,
            uses INTEGER NOT NULL DEFAULT 0,
            last_used TEXT,
            used_today INTEGER NOT NULL DEFAULT 0
        )""",
    ),
    (
        "ALTER TABLE turns ADD COLUMN question TEXT",
        "ALTER TABLE programs ADD COLUMN shown TEXT NOT NULL DEFAULT '[]'",
    ),
    (
        # Where a chat's requests may go, and what they took. What was spent stays known after a
        # chat is gone, so nothing here refers to chats or turns.
        "ALTER TABLE chats ADD COLUMN local_only INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN thinking TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE local_folders (
            id TEXT PRIMARY KEY,
            marked TEXT NOT NULL
        )""",
        """CREATE TABLE requests (
            id TEXT PRIMARY KEY,
            at TEXT NOT NULL,
            turn_id TEXT NOT NULL,
            chat_id TEXT NOT NULL,
            model_id TEXT NOT NULL,
            state TEXT NOT NULL,
            input_tokens INTEGER NOT NULL DEFAULT 0,
            cached_tokens INTEGER NOT NULL DEFAULT 0,
            cache_write_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0,
            thinking_tokens INTEGER NOT NULL DEFAULT 0,
            seconds REAL NOT NULL DEFAULT 0,
            energy_j REAL,
            amount TEXT,
            currency TEXT NOT NULL DEFAULT '',
            price_source TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX requests_by_time ON requests(at)",
        "CREATE INDEX requests_by_turn ON requests(turn_id)",
        "CREATE INDEX requests_by_chat ON requests(chat_id)",
    ),
    (
        # Why the router chose a turn's model, and the bigger one that it offers.
        "ALTER TABLE turns ADD COLUMN routed TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE turns ADD COLUMN offer TEXT",
    ),
    (
        # Models that are to be fetched, in order, and how fast the ones here were measured to be.
        """CREATE TABLE downloads (
            id TEXT PRIMARY KEY,
            state TEXT NOT NULL,
            queued TEXT NOT NULL,
            problem TEXT NOT NULL DEFAULT '',
            hint TEXT NOT NULL DEFAULT ''
        )""",
        """CREATE TABLE probes (
            id TEXT PRIMARY KEY,
            tokens_per_s REAL NOT NULL,
            first_token_s REAL NOT NULL,
            load_s REAL NOT NULL,
            threads INTEGER NOT NULL,
            machine TEXT NOT NULL,
            at TEXT NOT NULL
        )""",
    ),
    (
        # What a program wrote to standard error, apart from what it printed.
        "ALTER TABLE programs ADD COLUMN warned TEXT NOT NULL DEFAULT ''",
    ),
)
