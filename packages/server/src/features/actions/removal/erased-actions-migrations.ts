import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { numberBits } from '../search/search-index-store.ts'
import { isTokenLeft } from './deleted-rows-store.ts'

/** Erases the text of actions that ended before it went with their end, and adds the indexes by which it goes. */
export const erasedActionsMigrations: readonly Migration[] = [
  {
    id: '0050_erased_actions',
    async up(schema) {
      await eraseRows(schema)
      await eraseCompanions(schema)
      await eraseAnswers(schema)
      await schema.createIndex('actions_tokens_left', 'actions', ['issued_at'], { where: isTokenLeft })
      await schema.createIndex('idempotency_keys_of', 'idempotency_keys', ['tenant_id', 'action_id'])
    },
  },
]

// All that has ended but drafts that could not be published: nobody has deleted these, so they keep their text. The
// text of the condition is that of an index.
const ended = {
  sqlite: "status = 'D' and json_extract(x, '$.refused') is null",
  postgres: "status = 'D' and x::json ->> 'refused' is null",
}

// Of these a token may still have to be sent after its end. The sweep takes it in time.
const ifSent = (column: string) =>
  `case when token is not null and type in ('REACT', 'REPOST', 'FSHR', 'FLLW', 'CONN') then ${column} end`

const ifNoWords = (column: string) =>
  `case when type not in ('POST', 'SHRE', 'CMNT', 'MSG', 'APKG') then ${column} end`

const erased = {
  content: 'null',
  attachments: 'null',
  x: 'null',
  flags: 'null',
  subject: ifNoWords('subject'),
  sub_type: ifNoWords('sub_type'),
  token: ifSent('token'),
  nonce: ifSent('nonce'),
}

const gone = "status = 'D' and content is null and attachments is null"

/** Everything at once: no other row refers to what goes, and the index of ended actions leads to them. */
async function eraseRows(schema: MigrationSchema): Promise<void> {
  const columns = Object.entries(erased).map(([column, value]) => `${column} = ${value}`)
  const erase = (condition: string) => `update actions set ${columns.join(', ')} where ${condition}`
  await schema.run({ sqlite: erase(ended.sqlite), postgres: erase(ended.postgres) })
}

async function eraseCompanions(schema: MigrationSchema): Promise<void> {
  for (const table of ['action_attachments', 'action_tags']) {
    const remove = `delete from ${table} where (tenant_id, action_id) in
      (select tenant_id, action_id from actions where ${gone})`
    await schema.run({ sqlite: remove, postgres: remove })
  }
  await schema.run({
    sqlite: `delete from action_texts where rowid in
      (select (cast(created_at as integer) << ${numberBits}) | seq from actions where ${gone})`,
    postgres: `delete from action_texts using actions where action_texts.tenant_id = actions.tenant_id
      and action_texts.seq = actions.seq and ${gone}`,
  })
}

async function eraseAnswers(schema: MigrationSchema): Promise<void> {
  const erase = `update idempotency_keys set answer = null where (tenant_id, action_id) in
    (select tenant_id, action_id from actions where ${gone})`
  await schema.run({ sqlite: erase, postgres: erase })
}
