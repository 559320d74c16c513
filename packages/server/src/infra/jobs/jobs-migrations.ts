import type { Migration, MigrationSchema } from '#infra/db/index.ts'

/** The tables of the job queue. */
export const jobQueueMigrations: readonly Migration[] = [
  {
    id: '0006_jobs',
    async up(schema) {
      await createJobs(schema)
      await indexJobs(schema)
      await createGroups(schema)
    },
  },
]

// NOTE: a queue is read across tenants, so its key is the order of arrival; readers for tenants use `jobs_subject`.
async function createJobs(schema: MigrationSchema): Promise<void> {
  await schema.createTable('jobs', {
    job_id: 'autoincrement',
    tenant_id: 'integer',
    kind: 'text',
    state: 'text',
    payload: 'json',
    subject: 'text null',
    dedup_key: 'text null',
    ordering_key: 'text null',
    group_key: 'text null',
    run_at_ms: 'integer',
    attempts: 'integer default 0',
    last_error: 'text null',
    last_attempt_at_ms: 'integer null',
    created_at_ms: 'integer',
    give_up_at_ms: 'integer null',
    lease_until_ms: 'integer null',
    lease_node: 'text null',
    lease_token: 'text null',
    finished_at_ms: 'integer null',
    remove_at_ms: 'integer null',
  })
}

// Each index holds only the rows of one stage, so that a long queue in one place costs nothing in another.
async function indexJobs(schema: MigrationSchema): Promise<void> {
  // The column of its condition stands in an index where rows are counted: else SQLite looks at each row.
  await schema.createIndex(
    'jobs_queue',
    'jobs',
    ['kind', 'group_key', 'state', 'run_at_ms', 'job_id', 'finished_at_ms'],
    { where: 'finished_at_ms is null' },
  )
  await schema.createIndex('jobs_ordered', 'jobs', ['kind', 'ordering_key', 'state', '(job_id + 0)'], {
    where: 'ordering_key is not null and finished_at_ms is null',
  })
  await schema.createIndex('jobs_new', 'jobs', ['kind', '(job_id + 0)'], { where: "state = 'new'" })
  await schema.createIndex('jobs_leased', 'jobs', ['kind', 'lease_until_ms', 'lease_token'], {
    where: 'lease_until_ms is not null',
  })
  await schema.createIndex('jobs_give_up', 'jobs', ['kind', 'give_up_at_ms'], {
    where: 'give_up_at_ms is not null and finished_at_ms is null and lease_until_ms is null',
  })
  await schema.createIndex('jobs_dedup', 'jobs', ['tenant_id', 'kind', 'dedup_key'], {
    unique: true,
    where: 'dedup_key is not null',
  })
  await schema.createIndex('jobs_subject', 'jobs', ['tenant_id', 'kind', 'subject', 'job_id'], {
    where: 'subject is not null',
  })
  await schema.createIndex('jobs_dead', 'jobs', ['job_id', 'kind'], { where: "state = 'dead'" })
  await schema.createIndex('jobs_remove', 'jobs', ['remove_at_ms'], { where: 'remove_at_ms is not null' })
}

async function createGroups(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'job_groups',
    {
      kind: 'text',
      group_key: 'text',
      failures: 'integer',
      rests_until_ms: 'integer',
      served_at_ms: 'integer',
      times_served: 'integer',
      claim_at_ms: 'integer null',
    },
    { primaryKey: ['kind', 'group_key'], clustered: true },
  )
  await schema.createIndex(
    'job_groups_due',
    'job_groups',
    ['kind', 'claim_at_ms', 'times_served', 'group_key'],
    {
      where: 'claim_at_ms is not null',
    },
  )
  await schema.createTable('job_kinds', { kind: 'text' }, { primaryKey: ['kind'], clustered: true })
}
