import type { Migration } from '#infra/db/index.ts'

export const sharesMigrations: readonly Migration[] = [
  {
    id: '0620_shares',
    async up(schema) {
      await schema.createTable(
        'shares',
        {
          share_id: 'autoincrement',
          tenant_id: 'integer',
          resource_id: 'text',
          subject_type: 'text',
          subject_id: 'text',
          permission: 'text',
          expires_at: 'integer null',
          created_by: 'text',
          created_at: 'integer',
          is_derived: 'boolean default 0',
          ref_hash: 'text null',
        },
        {
          unique: [['tenant_id', 'resource_id', 'subject_type', 'subject_id']],
          foreignKeys: [
            {
              columns: ['tenant_id', 'resource_id'],
              references: 'files',
              on: ['tenant_id', 'file_id'],
              onDelete: 'cascade',
            },
          ],
        },
      )
      await schema.createIndex('shares_by_subject', 'shares', ['tenant_id', 'subject_type', 'subject_id'])
      await schema.createIndex('shares_derived', 'shares', ['tenant_id', 'share_id'], {
        where: 'is_derived = 1',
      })
      await schema.createIndex('shares_expiry', 'shares', ['expires_at'], { where: 'expires_at is not null' })
    },
  },
]

/** Shares with the readers of what another owner shared give nothing, since that owner would say to whom. */
export const copySubjectsMigrations: readonly Migration[] = [
  {
    id: '1330_shares_with_readers_of_copies',
    async up(schema) {
      const deletion = `delete from shares where subject_type = 'F' and exists (select 1 from files
        where files.tenant_id = shares.tenant_id and files.file_id = shares.subject_id and files.is_copy = 1)`
      await schema.run({ sqlite: deletion, postgres: deletion })
    },
  },
]

/** What somebody has given on, by who it was. */
export const givenOnMigrations: readonly Migration[] = [
  {
    id: '0625_shares_given_on',
    up: (schema) =>
      schema.createIndex('shares_given_on', 'shares', ['tenant_id', 'created_by'], {
        where: 'is_derived = 1',
      }),
  },
]

/** Which shares a share rests on that somebody gave who had the file by shares. */
export const shareBasesMigrations: readonly Migration[] = [
  {
    id: '1720_share_bases',
    async up(schema) {
      await schema.createIndex('shares_by_id', 'shares', ['tenant_id', 'share_id'], { unique: true })
      await schema.createTable(
        'share_bases',
        { tenant_id: 'integer', share_id: 'integer', base_id: 'integer' },
        {
          primaryKey: ['tenant_id', 'share_id', 'base_id'],
          // None for the base: what rested on one that is gone is reviewed, and then its rows go, in portions.
          foreignKeys: [
            {
              columns: ['tenant_id', 'share_id'],
              references: 'shares',
              on: ['tenant_id', 'share_id'],
              onDelete: 'cascade',
            },
          ],
          clustered: true,
        },
      )
      await schema.createIndex('share_bases_of', 'share_bases', ['tenant_id', 'base_id'])
      await schema.createIndex('shares_in_doubt', 'shares', ['tenant_id', 'is_derived', 'share_id'], {
        where: 'is_derived > 1',
      })
      await schema.dropIndex('shares_given_on')
    },
  },
]
