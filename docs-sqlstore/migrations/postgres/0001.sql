-- The tables of the platform. `k` is the key in the store, in byte order. `doc` is the record as JSON.
CREATE TABLE r_usr  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_tok  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_org  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_mem  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_spc  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_rev  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_crq  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_site (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_ssp  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE r_job  (k text COLLATE "C" PRIMARY KEY, doc jsonb NOT NULL);

-- Index rows, unique values, receipts and numbers: JSON in `v`, a number in `n`, or `NULL` in both.
CREATE TABLE ix (k text COLLATE "C" PRIMARY KEY, v jsonb, n bigint);

-- Counters. The value of a counter is the sum of its rows, so that concurrent additions do not conflict. If a counter
-- has many rows, the store merges them into one.
CREATE TABLE ctr (
    k    text COLLATE "C",
    part uuid DEFAULT gen_random_uuid(),
    n    bigint NOT NULL,
    PRIMARY KEY (k, part)
);

-- The change feed. `xid` is the transaction that published the item. Items are ordered by it, and an item is settled
-- once no older transaction is running. `seq` is the position within the transaction.
CREATE TABLE feed (
    topic integer,
    era   integer,
    xid   xid8 DEFAULT pg_current_xact_id(),
    seq   integer,
    k     text COLLATE "C" NOT NULL,
    PRIMARY KEY (topic, era, xid, seq)
);

-- Transaction ids start again when the database is copied to another cluster. A new era then begins, so that new items
-- still sort after earlier ones. `upto` is the last trimmed transaction of the era.
CREATE TABLE feed_era (era integer NOT NULL, upto xid8 NOT NULL);
INSERT INTO feed_era VALUES (0, '0');

-- Immutable content. `h` is the hash as text. The bytes are in `data`, or outside the database under the name `loc`. A
-- `dying` object is about to be deleted and counts as absent.
CREATE TABLE obj (
    domain  text COLLATE "C",
    h       text COLLATE "C",
    len     bigint NOT NULL,
    data    bytea,
    loc     text,
    touched timestamptz NOT NULL,
    dying   boolean NOT NULL DEFAULT false,
    PRIMARY KEY (domain, h),
    CHECK ((data IS NULL) <> (loc IS NULL))
);
-- Hashes are listed in byte order. Base32 with this alphabet preserves that order; the alphabet of `h` does not.
CREATE INDEX obj_order ON obj (
    domain,
    (translate(h, 'abcdefghijklmnopqrstuvwxyz234567', '0123456789abcdefghijklmnopqrstuv') COLLATE "C")
);

-- Views for administrators. A space has the visibility of the first published site that contains it. Ids need no
-- escaping in keys.
CREATE VIEW v_space AS
SELECT s.doc->>'id' AS id, s.doc->>'title' AS title, s.doc->>'organization' AS organization,
       coalesce(
           (SELECT t.doc->>'visibility'
            FROM ix
            JOIN r_site AS t ON t.k = 'site!' || split_part(substr(ix.k, 8 + length(s.doc->>'id')), '!', 1)
            WHERE ix.k >= 'ssp.s!' || (s.doc->>'id') || '!'
              AND ix.k < 'ssp.s!' || (s.doc->>'id') || '"'
              AND s.doc->>'deleted_at' IS NULL
              AND (t.doc->>'published')::boolean
            ORDER BY ix.k
            LIMIT 1),
           'private'
       ) AS visibility,
       s.doc->>'default_level' AS default_level, s.doc->>'edit_mode' AS edit_mode,
       s.doc->>'created_by' AS created_by, (s.doc->>'created_at')::timestamptz AS created_at,
       (s.doc->>'updated_at')::timestamptz AS updated_at, (s.doc->>'deleted_at')::timestamptz AS deleted_at,
       s.doc->>'head' AS head, s.doc->>'root' AS root, s.doc->>'domain' AS domain
FROM r_spc AS s;

CREATE VIEW v_member AS
SELECT m.doc->>'organization' AS organization, m.doc->>'user' AS "user", u.doc->>'email' AS email,
       u.doc->>'display_name' AS name, m.doc->>'role' AS role, (m.doc->>'joined_at')::timestamptz AS joined_at
FROM r_mem AS m
LEFT JOIN r_usr AS u ON u.k = 'usr!' || (m.doc->>'user');

CREATE VIEW v_site AS
SELECT doc->>'id' AS id, doc->>'title' AS title, doc->>'organization' AS organization,
       (doc->>'published')::boolean AS published, doc->>'visibility' AS visibility,
       doc->>'basename' AS basename, doc->>'proxy' AS proxy, doc->>'kind' AS kind,
       doc->>'created_by' AS created_by, (doc->>'created_at')::timestamptz AS created_at
FROM r_site;

-- The pages of each space's active revision. A revision is a tree of nodes, each of which is a JSON object in `obj`: an
-- inner node references its children by hash, and a leaf contains entries. Entries with the prefix `p!` are pages.
-- Siblings are ordered by `rank`. The view is for inspection only: a query for one space reads the nodes of all spaces.
CREATE VIEW v_page AS
WITH RECURSIVE node (space, domain, body) AS (
    SELECT s.doc->>'id', s.doc->>'domain', convert_from(o.data, 'UTF8')::jsonb
    FROM r_spc AS s
    JOIN obj AS o ON o.domain = s.doc->>'domain' AND o.h = s.doc->>'root'
    UNION ALL
    SELECT node.space, node.domain, convert_from(o.data, 'UTF8')::jsonb
    FROM node
    CROSS JOIN LATERAL jsonb_array_elements(node.body->'children') AS child
    JOIN obj AS o ON o.domain = node.domain AND o.h = child->>1
)
SELECT node.space AS space, substr(entry->>0, 3) AS id, entry->1->>'parent' AS parent,
       entry->1->>'rank' AS rank, entry->1->>'kind' AS kind, entry->1->>'title' AS title,
       entry->1->>'slug' AS slug, entry->1->>'description' AS description,
       coalesce((entry->1->>'hidden')::boolean, false) AS hidden,
       (entry->1->>'updatedAt')::timestamptz AS updated_at,
       convert_from(body.data, 'UTF8') AS markdown
FROM node
CROSS JOIN LATERAL jsonb_array_elements(node.body->'entries') AS entry
LEFT JOIN obj AS body ON body.domain = node.domain AND body.h = entry->1->>'body'
WHERE entry->>0 LIKE 'p!%';
