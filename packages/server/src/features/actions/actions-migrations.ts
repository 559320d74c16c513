import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { createSearchIndex, fillSearchIndex } from './feed/search-index-store.ts'
import { isOver, isRequest, keptSince } from './removal/remains-store.ts'

// `status in ('A', 'C')` is what most lists show. Queries repeat the conditions of these indexes word for word.
const live = "status in ('A', 'C')"

export const actionsMigrations: readonly Migration[] = [
  {
    id: '0300_actions',
    async up(schema) {
      await createActions(schema)
      await createIndexes(schema)
      await createCompanions(schema)
    },
  },
]

/** A tag's actions in the order of time: a page of them costs the same however many there are. */
export const tagTimesMigrations: readonly Migration[] = [
  {
    id: '0910_action_tag_times',
    async up(schema) {
      await schema.addColumn('action_tags', 'created_at', 'integer default 0')
      const copy = `update action_tags set created_at = coalesce((select a.created_at from actions as a
        where a.tenant_id = action_tags.tenant_id and a.action_id = action_tags.action_id), 0)`
      await schema.run({ sqlite: copy, postgres: copy })
      await schema.createIndex('action_tags_times', 'action_tags', [
        'tenant_id',
        'tag',
        'created_at',
        'action_id',
      ])
    },
  },
]

/** Which of an issuer's actions with the same unique members was signed last, whether it stands or has ended. */
export const uniqueTimesMigrations: readonly Migration[] = [
  {
    id: '0920_action_unique_times',
    up: (schema) =>
      schema.createIndex(
        'actions_unique_times',
        'actions',
        ['tenant_id', 'issuer_tag', 'unique_key', 'issued_at', 'action_id'],
        { where: 'unique_key is not null' },
      ),
  },
]

/** For lists of what several are addressed by, of what awaits an answer, of authors' drafts, and of what is public: whoever
 * finds nothing has looked through nothing. */
export const listIndexMigrations: readonly Migration[] = [
  {
    id: '1210_action_list_indexes',
    async up(schema) {
      await schema.addColumn('action_recipients', 'created_at', 'integer default 0')
      const copy = `update action_recipients set created_at = coalesce((select a.created_at from actions as a
        where a.tenant_id = action_recipients.tenant_id and a.action_id = action_recipients.action_id), 0)`
      await schema.run({ sqlite: copy, postgres: copy })
      const deletion = `delete from action_recipients where exists (select 1 from actions as a
        where a.tenant_id = action_recipients.tenant_id and a.action_id = action_recipients.action_id
        and a.audience_tag = action_recipients.id_tag)`
      await schema.run({ sqlite: deletion, postgres: deletion })
      await schema.createIndex('action_recipients_times', 'action_recipients', [
        'tenant_id',
        'id_tag',
        'created_at',
        'action_id',
      ])
      const index = (name: string, columns: string[], where: string) =>
        schema.createIndex(`actions_${name}`, 'actions', ['tenant_id', ...columns, 'created_at', 'seq'], {
          where,
        })
      const isPublic = "status = 'A' and visibility = 'P'"
      await index('public_by_type', ['type'], isPublic)
      await index('public_by_issuer', ['issuer_tag'], isPublic)
      await index('public_by_audience', ['audience_tag'], `audience_tag is not null and ${isPublic}`)
      await index('public_to_several', [], `audience is not null and ${isPublic}`)
      await index('waiting', [], "status = 'C'")
      await index(
        'by_author',
        ['author_tag', 'status'],
        "author_tag is not null and status in ('R', 'S', 'D', 'P')",
      )
    },
  },
]

/** Which attachments an action from elsewhere waits for. */
export const awaitedAttachmentsMigrations: readonly Migration[] = [
  {
    id: '0930_awaited_attachments',
    up: (schema) => schema.addColumn('action_attachments', 'awaited', 'boolean default 0'),
  },
]

/** Who attached a file: what somebody else says of a file is not looked at when it is asked who may read it. */
export const attachmentIssuersMigrations: readonly Migration[] = [
  {
    id: '1310_attachment_issuers',
    async up(schema) {
      await schema.addColumn('action_attachments', 'issuer_tag', "text default ''")
      const copy = `update action_attachments set issuer_tag = coalesce((select a.issuer_tag from actions as a
        where a.tenant_id = action_attachments.tenant_id and a.action_id = action_attachments.action_id), '')`
      await schema.run({ sqlite: copy, postgres: copy })
      await schema.createIndex('action_attachments_by_issuer', 'action_attachments', [
        'tenant_id',
        'issuer_tag',
        'file_id',
        'action_id',
      ])
    },
  },
]

/** What is remembered for callers: the first answer to an idempotency key, and which comments somebody has read. */
export const callerMemoryMigrations: readonly Migration[] = [
  {
    id: '1230_kept_answers',
    up: (schema) => schema.addColumn('idempotency_keys', 'answer', 'text null'),
  },
  {
    id: '1231_comment_reads',
    async up(schema) {
      await schema.createTable(
        'comment_reads',
        { tenant_id: 'integer', comment_id: 'text', reader_tag: 'text' },
        { primaryKey: ['tenant_id', 'comment_id', 'reader_tag'], clustered: true },
      )
      // They counted what there was, not what was shown.
      const deletion = 'delete from action_reads'
      await schema.run({ sqlite: deletion, postgres: deletion })
    },
  },
]

/** What sweeps find without reading the rest: what remains of deleted actions, requests, and who has read what. */
export const actionSweepMigrations: readonly Migration[] = [
  {
    id: '1580_action_sweeps',
    async up(schema) {
      await schema.addColumn('actions', 'kept_since', 'integer null')
      await schema.createIndex('actions_remains', 'actions', [`(${keptSince})`], { where: isOver })
      await schema.createIndex('actions_requests', 'actions', ['issued_at'], { where: isRequest })
      for (const table of ['action_attachments', 'action_tags'])
        await schema.createIndex(`${table}_of`, table, ['tenant_id', 'action_id'])
      await schema.addColumn('comment_reads', 'day', 'integer default 0')
      await schema.run({
        sqlite: `update comment_reads set day = cast(strftime('%s', 'now') as integer) / 86400`,
        postgres: `update comment_reads set day = floor(extract(epoch from now()) / 86400)`,
      })
      await schema.createIndex('comment_reads_age', 'comment_reads', ['day'])
    },
  },
]

/** The index of words, with the tenant in each term and in the order of lists; a later migration fills it. */
export const searchIndexMigrations: readonly Migration[] = [
  {
    id: '1300_search_index',
    up: createSearchIndex,
  },
]

/** What was withdrawn, by whom: also what has never been here. */
export const tombstonesMigrations: readonly Migration[] = [
  {
    id: '1410_tombstones',
    async up(schema) {
      await schema.createTable(
        'tombstones',
        {
          tenant_id: 'integer',
          issuer_tag: 'text',
          action_id: 'text',
          type: 'text',
          domain: 'text',
          kept_until: 'integer',
        },
        { primaryKey: ['tenant_id', 'issuer_tag', 'action_id', 'type'], clustered: true },
      )
      await schema.createIndex('tombstones_domain', 'tombstones', ['tenant_id', 'domain'])
      await schema.createIndex('tombstones_end', 'tombstones', ['tenant_id', 'kept_until'])
    },
  },
]

/** What strangers have left at a tenant, per registrable domain and day. */
export const strangerRowsMigrations: readonly Migration[] = [
  {
    id: '1310_stranger_rows',
    async up(schema) {
      await schema.createTable(
        'stranger_rows',
        { tenant_id: 'integer', domain: 'text', day: 'integer', row_count: 'integer', byte_count: 'integer' },
        { primaryKey: ['tenant_id', 'domain', 'day'], clustered: true },
      )
      await schema.createIndex('stranger_rows_day', 'stranger_rows', ['day'])
    },
  },
]

/** What a tenant shows to its visitors, apart from what only its own feed shows: most of what is received is the latter. */
export const pageMigrations: readonly Migration[] = [
  {
    id: '1320_action_pages',
    async up(schema) {
      await schema.addColumn('actions', 'feed_only', 'boolean default 0')
      // What was received before: by others, addressed to nobody here, in no thread. The rest is looked at when it is read.
      const passing = `update actions set feed_only = 1 where within_id is null and audience_tag is null
        and audience is null and not exists (select 1 from tenants where tenants.tenant_id = actions.tenant_id
          and (tenants.id_tag = actions.issuer_tag or tenants.type = 'community'))
        and not exists (select 1 from actions as shown where shown.tenant_id = actions.tenant_id
          and shown.type = 'REPOST' and shown.subject = actions.action_id)`
      await schema.run({ sqlite: passing, postgres: passing })
      const index = async (name: string, columns: string[], where: string) => {
        await schema.dropIndex(`actions_${name}`)
        await schema.createIndex(
          `actions_${name}`,
          'actions',
          ['tenant_id', ...columns, 'created_at', 'seq'],
          {
            where,
          },
        )
      }
      const isPublic = "status = 'A' and visibility = 'P' and feed_only = 0"
      await index('public', [], isPublic)
      await index('public_by_type', ['type'], isPublic)
      await index('public_by_issuer', ['issuer_tag'], isPublic)
      await index('public_by_audience', ['audience_tag'], `audience_tag is not null and ${isPublic}`)
      await index('public_to_several', [], `audience is not null and ${isPublic}`)
      await schema.createIndex('actions_page', 'actions', ['tenant_id', 'created_at', 'seq'], {
        where: `feed_only = 0 and ${live}`,
      })
    },
  },
]

/** For visitors, whatever they filter by: what the page shows apart from what it does not. */
export const visitorListMigrations: readonly Migration[] = [
  {
    id: '1600_visitor_lists',
    async up(schema) {
      await noteShown(schema)
      const index = (name: string, columns: string[], where: string) =>
        schema.createIndex(`actions_${name}`, 'actions', ['tenant_id', ...columns, 'created_at', 'seq'], {
          where: `${where}${live}`,
        })
      await index('shown_by_issuer', ['issuer_tag', 'feed_only'], '')
      await index('shown_by_audience', ['audience_tag', 'feed_only'], 'audience_tag is not null and ')
      for (const name of ['subject', 'parent_id', 'root_id'])
        await index(
          `page_by_${name.replace('_id', '')}`,
          [name],
          `${name} is not null and feed_only = 0 and `,
        )
      await index(
        'told_by_subject',
        ['subject'],
        'subject is not null and feed_only = 1 and visibility is null and ',
      )
      await createSearchIndex(schema)
      await fillSearchIndex(schema)
    },
  },
]

async function noteShown(schema: MigrationSchema): Promise<void> {
  for (const table of ['action_tags', 'action_recipients']) {
    await schema.addColumn(table, 'feed_only', 'boolean default 0')
    const copy = `update ${table} set feed_only = 1 where exists (select 1 from actions as a
      where a.tenant_id = ${table}.tenant_id and a.action_id = ${table}.action_id and a.feed_only = 1)`
    await schema.run({ sqlite: copy, postgres: copy })
  }
  await schema.addColumn('action_tags', 'is_public', 'boolean default 0')
  const copy = `update action_tags set is_public = 1 where feed_only = 0 and exists (select 1 from actions as a
    where a.tenant_id = action_tags.tenant_id and a.action_id = action_tags.action_id and a.visibility = 'P')`
  await schema.run({ sqlite: copy, postgres: copy })
  const times = ['created_at', 'action_id']
  const tagTimes = ['tenant_id', 'tag', ...times]
  await schema.createIndex('action_tags_page', 'action_tags', tagTimes, { where: 'feed_only = 0' })
  await schema.createIndex('action_tags_public', 'action_tags', tagTimes, { where: 'is_public = 1' })
  const recipientTimes = ['tenant_id', 'id_tag', 'feed_only', ...times]
  await schema.createIndex('action_recipients_shown', 'action_recipients', recipientTimes)
}

async function createActions(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'actions',
    {
      // Order of arrival: decides between actions of the same second, and is small in every index.
      seq: 'autoincrement',
      tenant_id: 'integer',
      action_id: 'text',
      type: 'text',
      sub_type: 'text null',
      issuer_tag: 'text',
      author_tag: 'text null',
      audience_tag: 'text null',
      audience: 'json null',
      parent_id: 'text null',
      root_id: 'text null',
      within_id: 'text null',
      subject: 'text null',
      visibility: 'text null',
      status: 'text',
      flags: 'text null',
      created_at: 'integer',
      issued_at: 'integer',
      published_at: 'integer null',
      publish_at: 'integer null',
      expires_at: 'integer null',
      unique_key: 'text null',
      marked: 'boolean default 0',
      reactions: 'integer default 0',
      comments: 'integer default 0',
      views: 'integer default 0',
      shares: 'integer default 0',
      // `iat` of the last word of the issuer's server on these counts.
      stat_at: 'integer null',
      content: 'json null',
      attachments: 'json null',
      x: 'json null',
      nonce: 'text null',
      token: 'text null',
    },
    { unique: [['tenant_id', 'action_id']] },
  )
}

async function createIndexes(schema: MigrationSchema): Promise<void> {
  const index = (name: string, columns: string[], where: string, unique = false) =>
    schema.createIndex(`actions_${name}`, 'actions', columns, { where, unique })
  const newest = ['created_at', 'seq']
  await schema.createIndex('actions_feed', 'actions', ['tenant_id', ...newest, 'status'])
  await index('public', ['tenant_id', ...newest], "status = 'A' and visibility = 'P'")
  await index('by_type', ['tenant_id', 'type', ...newest], live)
  await index('by_issuer', ['tenant_id', 'issuer_tag', ...newest], live)
  await index('by_audience', ['tenant_id', 'audience_tag', ...newest], 'audience_tag is not null')
  await index('by_parent', ['tenant_id', 'parent_id', ...newest], 'parent_id is not null')
  await index('by_root', ['tenant_id', 'root_id', ...newest], 'root_id is not null')
  await index('by_subject', ['tenant_id', 'subject', ...newest], 'subject is not null')
  await index('unlisted', ['tenant_id', 'status', ...newest], "status in ('R', 'S', 'D', 'P')")
  await index('marked', ['tenant_id', ...newest], 'marked = 1')
  await index('unique', ['tenant_id', 'issuer_tag', 'unique_key'], `unique_key is not null and ${live}`, true)
  await index('expiry', ['expires_at'], `expires_at is not null and ${live}`)
  // Who on this server holds an action: for what is said about it elsewhere.
  await schema.createIndex('actions_holders', 'actions', ['action_id'])
}

async function createCompanions(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'action_recipients',
    { tenant_id: 'integer', action_id: 'text', id_tag: 'text' },
    { primaryKey: ['tenant_id', 'action_id', 'id_tag'], clustered: true },
  )
  await schema.createIndex('action_recipients_tag', 'action_recipients', ['tenant_id', 'id_tag'])
  await schema.createTable(
    'action_attachments',
    { tenant_id: 'integer', file_id: 'text', action_id: 'text' },
    { primaryKey: ['tenant_id', 'file_id', 'action_id'], clustered: true },
  )
  await schema.createTable(
    'action_tags',
    { tenant_id: 'integer', tag: 'text', action_id: 'text' },
    { primaryKey: ['tenant_id', 'tag', 'action_id'], clustered: true },
  )
  await schema.createTable(
    'action_reads',
    { tenant_id: 'integer', action_id: 'text', reader_tag: 'text', comments: 'integer' },
    { primaryKey: ['tenant_id', 'action_id', 'reader_tag'], clustered: true },
  )
  await schema.createTable(
    'action_views',
    { tenant_id: 'integer', action_id: 'text', reader: 'text', day: 'integer' },
    { primaryKey: ['tenant_id', 'action_id', 'reader'], clustered: true },
  )
  await schema.createIndex('action_views_day', 'action_views', ['day'])
  await schema.createTable(
    'idempotency_keys',
    {
      tenant_id: 'integer',
      caller_tag: 'text',
      idempotency_key: 'text',
      body_hash: 'text',
      action_id: 'text',
      created_at: 'integer',
    },
    { primaryKey: ['tenant_id', 'caller_tag', 'idempotency_key'], clustered: true },
  )
  await schema.createIndex('idempotency_keys_age', 'idempotency_keys', ['created_at'])
}
