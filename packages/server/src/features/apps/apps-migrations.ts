import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { offerWords } from './offers/offer-words.ts'

export const appsMigrations: readonly Migration[] = [
  {
    id: '0033_installed_apps',
    async up(schema) {
      await createOffers(schema)
      await createInstalledApps(schema)
    },
  },
]

export const heldOffersMigrations: readonly Migration[] = [
  {
    id: '0057_held_app_offers',
    async up(schema) {
      // Offers are those that a tenant holds, of any publisher.
      for (const index of ['newest', 'by_publisher', 'by_action'])
        await schema.dropIndex(`app_offers_${index}`)
      const versions = ['tenant_id', 'publisher_tag', 'name', 'version_order', 'created_at', 'action_id']
      await schema.createIndex('app_offers_newest', 'app_offers', versions)
      await schema.dropIndex('installed_apps_updated')
      for (const column of ['titles', 'descriptions', 'file_types'])
        await schema.addColumn('app_offers', column, 'json null')
      await schema.addColumn('installed_apps', 'withdrawn_at', 'integer null')
    },
  },
]

/** Offers are searched by another form of their words from now on. */
export const offerWordsMigrations: readonly Migration[] = [{ id: '0063_offer_words', up: fillWords }]

interface OfferTables {
  app_offers: {
    tenant_id: number
    action_id: string
    name: string
    description: string | null
    tags: string
    titles: string | null
    descriptions: string | null
    words: string
  }
}
type OfferKey = Pick<OfferTables['app_offers'], 'tenant_id' | 'action_id'>

async function fillWords(schema: MigrationSchema): Promise<void> {
  const tables = schema.tables<OfferTables>()
  for (let last: OfferKey | undefined = { tenant_id: 0, action_id: '' }; last; ) {
    const after: OfferKey = last
    const rows = await tables
      .selectFrom('app_offers')
      .select(['tenant_id', 'action_id', 'name', 'description', 'tags', 'titles', 'descriptions'])
      .where((row) =>
        row(row.refTuple('tenant_id', 'action_id'), '>', row.tuple(after.tenant_id, after.action_id)),
      )
      .orderBy('tenant_id')
      .orderBy('action_id')
      .limit(500)
      .execute()
    for (const { tenant_id, action_id, name, description, tags, titles, descriptions } of rows)
      await tables
        .updateTable('app_offers')
        .set({
          words: offerWords({
            name,
            description: description ?? undefined,
            tags: JSON.parse(tags) as string[],
            titles: JSON.parse(titles ?? '{}') as Record<string, string>,
            descriptions: JSON.parse(descriptions ?? '{}') as Record<string, string>,
          }),
        })
        .where('tenant_id', '=', tenant_id)
        .where('action_id', '=', action_id)
        .execute()
    last = rows.at(-1)
  }
}

async function createOffers(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'app_offers',
    {
      tenant_id: 'integer',
      action_id: 'text',
      publisher_tag: 'text',
      name: 'text',
      version: 'text',
      version_order: 'text',
      file_id: 'text',
      capabilities: 'json',
      description: 'text null',
      tags: 'json',
      // What it is found by, each after a space.
      words: 'text',
      created_at: 'integer',
    },
    { primaryKey: ['tenant_id', 'action_id'] },
  )
  const newest = ['tenant_id', 'name', 'version_order', 'action_id']
  await schema.createIndex('app_offers_newest', 'app_offers', newest)
  await schema.createIndex('app_offers_by_publisher', 'app_offers', ['publisher_tag', 'tenant_id'])
  await schema.createIndex('app_offers_by_action', 'app_offers', ['action_id'])
}

async function createInstalledApps(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'installed_apps',
    {
      tenant_id: 'integer',
      publisher_tag: 'text',
      name: 'text',
      // The publisher on this server; null where the app came with its tenant from another one.
      publisher_id: 'integer null',
      app_id: 'text',
      version: 'text',
      action_id: 'text',
      file_id: 'text',
      blob_hash: 'text',
      auto_update: 'boolean default 0',
      manifest: 'json',
      // Where the files lie in the package.
      entries: 'json',
      installed_at: 'integer',
      updated_at: 'integer',
    },
    { primaryKey: ['tenant_id', 'publisher_tag', 'name'] },
  )
  await schema.createIndex('installed_apps_by_file', 'installed_apps', ['tenant_id', 'file_id'])
  const followers = ['publisher_id', 'name', 'tenant_id']
  await schema.createIndex('installed_apps_updated', 'installed_apps', followers, {
    where: 'auto_update = 1',
  })
}
