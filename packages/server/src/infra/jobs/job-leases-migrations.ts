import type { Migration } from '#infra/db/index.ts'

/** A process holds all its jobs by one lease, and whether a job has ended is told by `remove_at_ms` alone. */
export const jobLeasesMigrations: readonly Migration[] = [
  {
    id: '0023_job_leases',
    async up(schema) {
      await schema.createTable(
        'job_leases',
        { lease_token: 'text', node_id: 'text', until_ms: 'integer' },
        { primaryKey: ['lease_token'], clustered: true },
      )
      await schema.dropTable('job_kinds')
      for (const index of ['jobs_queue', 'jobs_ordered', 'jobs_leased', 'jobs_give_up'])
        await schema.dropIndex(index)
      // The column of its condition stands in an index where rows are counted: else SQLite looks at each row.
      await schema.createIndex(
        'jobs_queue',
        'jobs',
        ['kind', 'group_key', 'state', 'run_at_ms', 'job_id', 'remove_at_ms'],
        { where: 'remove_at_ms is null' },
      )
      await schema.createIndex('jobs_ordered', 'jobs', ['kind', 'ordering_key', 'state', '(job_id + 0)'], {
        where: 'ordering_key is not null and remove_at_ms is null',
      })
      await schema.createIndex('jobs_leased', 'jobs', ['kind', 'lease_token'], {
        where: 'lease_token is not null',
      })
      await schema.createIndex('jobs_give_up', 'jobs', ['kind', 'give_up_at_ms'], {
        where: 'give_up_at_ms is not null and remove_at_ms is null and lease_token is null',
      })
      for (const column of ['finished_at_ms', 'lease_until_ms', 'lease_node']) {
        const drop = `alter table jobs drop column ${column}`
        await schema.run({ sqlite: drop, postgres: drop })
      }
    },
  },
]
