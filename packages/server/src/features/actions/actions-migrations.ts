import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { isOver, isRequest, keptSince } from './removal/deleted-rows-store.ts'
import { erasedActionsMigrations } from './removal/erased-actions-migrations.ts'
import { searchBacklogMigrations } from './search/index-backlog-store.ts'
import { createSearchIndex } from './search/search-index-store.ts'

export const actionTableMigrations: readonly Migration[] = [
  {
    id: '0020_actions',
    async up(schema) {
      await schema.createTable('actions', actionColumns, { unique: [['tenant_id', 'action_id']] })
      await createListIndexes(schema)
      await createPublicIndexes(schema)
      await createVisitorIndexes(schema)
      await createCompanions(schema)
      await createCompanionIndexes(schema)
      await createReadMarks(schema)
      await createSearchIndex(schema)
      await createReceivedRecords(schema)
    },
  },
]

export const unverifiedActionsMigrations: readonly Migration[] = [
  {
    id: '0046_unverified_actions',
    async up(schema) {
      await schema.addColumn('actions', 'unverified', 'boolean default 0')
      await createIndexOn(schema, 'unverified', ['tenant_id', 'issuer_tag', 'seq'], 'unverified = 1')
    },
  },
]

export const endorsementMigrations: readonly Migration[] = [
  {
    id: '0049_endorsements',
    async up(schema) {
      await schema.addColumn('actions', 'target_id', 'text null')
      await schema.addColumn('actions', 'target_hash', 'text null')
      await schema.addColumn('actions', 'mismatched', 'boolean default 0')
      await createIndexOn(schema, 'targets', ['tenant_id', 'target_id'], 'target_id is not null')
    },
  },
]

export const actionsMigrations: readonly Migration[] = [
  ...actionTableMigrations,
  ...unverifiedActionsMigrations,
  ...endorsementMigrations,
  ...erasedActionsMigrations,
  ...searchBacklogMigrations,
]

const actionColumns = {
  // Order of arrival: decides the order of actions of the same second, and takes little room in the indexes.
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
  // `iat` of the last counts that the issuer's server told.
  stat_at: 'integer null',
  content: 'json null',
  attachments: 'json null',
  x: 'json null',
  nonce: 'text null',
  token: 'text null',
  // Shown in the tenant's own feed but not on its page, like most of what is received.
  feed_only: 'boolean default 0',
  kept_since: 'integer null',
} as const

// What most lists show. Queries repeat the conditions of these indexes with the same text.
const live = "status in ('A', 'C')"
const isPublic = "status = 'A' and visibility = 'P' and feed_only = 0"
const newest = ['created_at', 'seq']

function createIndexOn(schema: MigrationSchema, name: string, columns: string[], where: string) {
  return schema.createIndex(`actions_${name}`, 'actions', columns, { where })
}

function createListIndex(schema: MigrationSchema, name: string, columns: string[], where: string) {
  return createIndexOn(schema, name, ['tenant_id', ...columns, ...newest], where)
}

async function createListIndexes(schema: MigrationSchema): Promise<void> {
  const index = (name: string, columns: string[], where: string) =>
    createListIndex(schema, name, columns, where)
  await schema.createIndex('actions_feed', 'actions', ['tenant_id', ...newest, 'status'])
  await index('by_type', ['type'], live)
  await index('by_issuer', ['issuer_tag'], live)
  await index('by_audience', ['audience_tag'], 'audience_tag is not null')
  await index('by_parent', ['parent_id'], 'parent_id is not null')
  await index('by_root', ['root_id'], 'root_id is not null')
  await index('by_subject', ['subject'], 'subject is not null')
  await index('unlisted', ['status'], "status in ('R', 'S', 'D', 'P')")
  await index('marked', [], 'marked = 1')
  await schema.createIndex('actions_unique', 'actions', ['tenant_id', 'issuer_tag', 'unique_key'], {
    unique: true,
    where: `unique_key is not null and ${live}`,
  })
  await createIndexOn(schema, 'expiry', ['expires_at'], `expires_at is not null and ${live}`)
  // Who on this server holds an action, for what arrives about it.
  await schema.createIndex('actions_holders', 'actions', ['action_id'])
  // Which of an issuer's actions with the same unique key was signed last, live or ended.
  const unique = ['tenant_id', 'issuer_tag', 'unique_key', 'issued_at', 'action_id']
  await createIndexOn(schema, 'unique_times', unique, 'unique_key is not null')
  await index('waiting', [], "status = 'C'")
  const drafts = "author_tag is not null and status in ('R', 'S', 'D', 'P')"
  await index('by_author', ['author_tag', 'status'], drafts)
}

/** For guests, who see public actions only. */
async function createPublicIndexes(schema: MigrationSchema): Promise<void> {
  const index = (name: string, columns: string[], where: string) =>
    createListIndex(schema, name, columns, where)
  await index('public', [], isPublic)
  await index('public_by_type', ['type'], isPublic)
  await index('public_by_issuer', ['issuer_tag'], isPublic)
  await index('public_by_audience', ['audience_tag'], `audience_tag is not null and ${isPublic}`)
  await index('public_to_several', [], `audience is not null and ${isPublic}`)
}

/** For visitors, whatever they filter by, and for sweeps, so that they read only rows they remove. */
async function createVisitorIndexes(schema: MigrationSchema): Promise<void> {
  const index = (name: string, columns: string[], where: string) =>
    createListIndex(schema, name, columns, `${where}${live}`)
  await index('page', [], 'feed_only = 0 and ')
  await createIndexOn(schema, 'remains', [`(${keptSince})`], isOver)
  await createIndexOn(schema, 'requests', ['issued_at'], isRequest)
  await index('shown_by_issuer', ['issuer_tag', 'feed_only'], '')
  await index('shown_by_audience', ['audience_tag', 'feed_only'], 'audience_tag is not null and ')
  for (const name of ['subject', 'parent_id', 'root_id'])
    await index(`page_by_${name.replace('_id', '')}`, [name], `${name} is not null and feed_only = 0 and `)
  const told = 'subject is not null and feed_only = 1 and visibility is null and '
  await index('told_by_subject', ['subject'], told)
}

async function createCompanions(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'action_recipients',
    {
      tenant_id: 'integer',
      action_id: 'text',
      id_tag: 'text',
      created_at: 'integer default 0',
      feed_only: 'boolean default 0',
    },
    { primaryKey: ['tenant_id', 'action_id', 'id_tag'], clustered: true },
  )
  await schema.createTable(
    'action_attachments',
    {
      tenant_id: 'integer',
      file_id: 'text',
      action_id: 'text',
      // The action came from elsewhere and waits for the file.
      awaited: 'boolean default 0',
      // Others' attachments give nobody the right to read a file.
      issuer_tag: "text default ''",
    },
    { primaryKey: ['tenant_id', 'file_id', 'action_id'], clustered: true },
  )
  await schema.createTable(
    'action_tags',
    {
      tenant_id: 'integer',
      tag: 'text',
      action_id: 'text',
      created_at: 'integer default 0',
      feed_only: 'boolean default 0',
      is_public: 'boolean default 0',
    },
    { primaryKey: ['tenant_id', 'tag', 'action_id'], clustered: true },
  )
}

/** Ordered by time, so that a page costs the same however many actions there are. */
async function createCompanionIndexes(schema: MigrationSchema): Promise<void> {
  const times = ['created_at', 'action_id']
  const recipientIndex = (name: string, ...columns: string[]) =>
    schema.createIndex(`action_recipients_${name}`, 'action_recipients', ['tenant_id', 'id_tag', ...columns])
  await recipientIndex('tag')
  await recipientIndex('times', ...times)
  await recipientIndex('shown', 'feed_only', ...times)
  const byIssuer = ['tenant_id', 'issuer_tag', 'file_id', 'action_id']
  await schema.createIndex('action_attachments_by_issuer', 'action_attachments', byIssuer)
  await schema.createIndex('action_attachments_of', 'action_attachments', ['tenant_id', 'action_id'])
  const tagTimes = ['tenant_id', 'tag', ...times]
  await schema.createIndex('action_tags_times', 'action_tags', tagTimes)
  await schema.createIndex('action_tags_of', 'action_tags', ['tenant_id', 'action_id'])
  await schema.createIndex('action_tags_page', 'action_tags', tagTimes, { where: 'feed_only = 0' })
  await schema.createIndex('action_tags_public', 'action_tags', tagTimes, { where: 'is_public = 1' })
}

/** What callers have read and viewed, and the first answers to their idempotency keys. */
async function createReadMarks(schema: MigrationSchema): Promise<void> {
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
      answer: 'text null',
    },
    { primaryKey: ['tenant_id', 'caller_tag', 'idempotency_key'], clustered: true },
  )
  await schema.createIndex('idempotency_keys_age', 'idempotency_keys', ['created_at'])
  await schema.createTable(
    'comment_reads',
    { tenant_id: 'integer', comment_id: 'text', reader_tag: 'text', day: 'integer default 0' },
    { primaryKey: ['tenant_id', 'comment_id', 'reader_tag'], clustered: true },
  )
  await schema.createIndex('comment_reads_age', 'comment_reads', ['day'])
}

async function createReceivedRecords(schema: MigrationSchema): Promise<void> {
  // What was withdrawn and by whom, including actions that were never here.
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
  // How much strangers have left at a tenant, per registrable domain and day.
  await schema.createTable(
    'stranger_rows',
    { tenant_id: 'integer', domain: 'text', day: 'integer', row_count: 'integer', byte_count: 'integer' },
    { primaryKey: ['tenant_id', 'domain', 'day'], clustered: true },
  )
  await schema.createIndex('stranger_rows_day', 'stranger_rows', ['day'])
}
