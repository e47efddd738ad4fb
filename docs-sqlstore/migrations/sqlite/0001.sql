-- The tables of the platform.
--
-- `k` is the key in the store, in byte order. Each kind of record has a table, with the record as JSON in `doc`.
CREATE TABLE r_usr  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_tok  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_org  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_mem  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_spc  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_rev  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_crq  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_site (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_ssp  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE TABLE r_job  (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT;

-- Everything else except counters: index rows, unique values, receipts and numbers. JSON in `v`, a number in `n`, or
-- `NULL` in both.
CREATE TABLE ix (
    k TEXT PRIMARY KEY NOT NULL,
    v TEXT,
    n INTEGER,
    CHECK (v IS NULL OR n IS NULL)
) STRICT, WITHOUT ROWID;

-- Counters, in a separate table because additions do not read them.
CREATE TABLE ctr (k TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The change feed. There is one writer at a time, so `seq` is the order of commits. Numbers are never reused.
CREATE TABLE feed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    topic INTEGER NOT NULL,
    k TEXT NOT NULL
) STRICT;
CREATE INDEX feed_topic ON feed (topic, seq);

-- Immutable content. `h` is the hash as text, as in records. `raw` is the same hash as bytes, because objects are
-- listed in byte order, which differs from the order of the text. The bytes are in `data`, or outside the database
-- under the name `loc`. Times are in milliseconds since 1970. `dying` is 1 for an object that is about to be deleted.
-- `data` is the last column, so that reading the others does not read it.
CREATE TABLE obj (
    domain TEXT NOT NULL,
    h TEXT NOT NULL,
    raw BLOB NOT NULL,
    len INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    dying INTEGER,
    loc TEXT,
    data BLOB,
    PRIMARY KEY (domain, h),
    CHECK ((loc IS NULL) <> (data IS NULL))
) STRICT;
CREATE UNIQUE INDEX obj_raw ON obj (domain, raw);

-- Views for administrators. A space has the visibility of the first published site that contains it. Ids need no
-- escaping in keys.
CREATE VIEW v_space AS
SELECT s.doc ->> 'id' AS id,
       s.doc ->> 'title' AS title,
       s.doc ->> 'organization' AS organization,
       coalesce(
           (SELECT t.doc ->> 'visibility'
            FROM ix
            JOIN r_site AS t
              ON t.k = 'site!' || substr(ix.k, 8 + length(s.doc ->> 'id'),
                                         instr(substr(ix.k, 8 + length(s.doc ->> 'id')), '!') - 1)
            WHERE ix.k >= 'ssp.s!' || (s.doc ->> 'id') || '!'
              AND ix.k < 'ssp.s!' || (s.doc ->> 'id') || '"'
              AND s.doc ->> 'deleted_at' IS NULL
              AND t.doc ->> 'published'
            ORDER BY ix.k
            LIMIT 1),
           'private'
       ) AS visibility,
       s.doc ->> 'default_level' AS default_level,
       s.doc ->> 'edit_mode' AS edit_mode,
       s.doc ->> 'created_by' AS created_by,
       s.doc ->> 'created_at' AS created_at,
       s.doc ->> 'updated_at' AS updated_at,
       s.doc ->> 'deleted_at' AS deleted_at,
       s.doc ->> 'head' AS head,
       s.doc ->> 'root' AS root,
       s.doc ->> 'domain' AS domain
FROM r_spc AS s;

CREATE VIEW v_member AS
SELECT m.doc ->> 'organization' AS organization,
       o.doc ->> 'title' AS organization_title,
       m.doc ->> 'user' AS user,
       u.doc ->> 'email' AS email,
       u.doc ->> 'display_name' AS name,
       m.doc ->> 'role' AS role,
       m.doc ->> 'joined_at' AS joined_at
FROM r_mem AS m
LEFT JOIN r_usr AS u ON u.k = 'usr!' || (m.doc ->> 'user')
LEFT JOIN r_org AS o ON o.k = 'org!' || (m.doc ->> 'organization');

CREATE VIEW v_site AS
SELECT doc ->> 'id' AS id,
       doc ->> 'title' AS title,
       doc ->> 'organization' AS organization,
       doc ->> 'basename' AS basename,
       doc ->> 'visibility' AS visibility,
       doc ->> 'published' AS published,
       doc ->> 'created_by' AS created_by,
       doc ->> 'created_at' AS created_at
FROM r_site;

-- The pages of each space's active revision. A revision is a tree of nodes, each of which is a JSON object in `obj`: an
-- inner node references its children by hash, and a leaf contains entries. Entries with the prefix `p!` are pages.
-- Siblings are ordered by `rank`. The view is for inspection only: a query for one space reads the nodes of all spaces.
CREATE VIEW v_page AS
WITH RECURSIVE node (space, domain, body) AS (
    SELECT s.doc ->> 'id', s.doc ->> 'domain', CAST(o.data AS TEXT)
    FROM r_spc AS s
    JOIN obj AS o ON o.domain = s.doc ->> 'domain' AND o.h = s.doc ->> 'root'
    UNION ALL
    SELECT node.space, node.domain, CAST(o.data AS TEXT)
    FROM node
    JOIN json_each(node.body, '$.children') AS child
    JOIN obj AS o ON o.domain = node.domain AND o.h = child.value ->> 1
)
SELECT node.space AS space,
       substr(entry.value ->> 0, 3) AS id,
       entry.value ->> '$[1].parent' AS parent,
       entry.value ->> '$[1].rank' AS rank,
       entry.value ->> '$[1].kind' AS kind,
       entry.value ->> '$[1].title' AS title,
       entry.value ->> '$[1].slug' AS slug,
       entry.value ->> '$[1].description' AS description,
       coalesce(entry.value ->> '$[1].hidden', 0) AS hidden,
       entry.value ->> '$[1].updatedAt' AS updated_at,
       CAST(text.data AS TEXT) AS markdown
FROM node
JOIN json_each(node.body, '$.entries') AS entry
LEFT JOIN obj AS text ON text.domain = node.domain AND text.h = entry.value ->> '$[1].body'
WHERE substr(entry.value ->> 0, 1, 2) = 'p!';
