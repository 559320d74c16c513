import { deleteSetting, listSettings, putSetting } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { session, takeSetting } from '#platform/session.ts'

export type Values = Readonly<Record<string, unknown>>

/** The settings of the account, by name, with the values that hold. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async ({ signal }): Promise<Values> => {
    const { data } = await client.call(listSettings, {}, { signal })
    return Object.fromEntries(data)
  },
})

/** The settings that a sign-in answers too: the app follows these without asking for the others. */
const ofSignIn = ['theme', 'language', 'fontSize', 'notifications', 'darkMode', 'privacy.read_receipts']

/** Shows a value that was changed, here or on another device. */
export function showSetting(name: string, value: unknown): void {
  queries.setQueryData(settingsQuery.queryKey, (known) => known && { ...known, [name]: value })
  if (ofSignIn.includes(name)) takeSetting(name, value === null ? '' : String(value))
}

// Changes are kept one after the other, so that the last one stays.
let underWay: Promise<unknown> = Promise.resolve()
let changing = 0

/** Whether changes of this device are on their way: until they have arrived, the server tells of former ones. */
export function isChanging(): boolean {
  return changing > 0
}

/** Shows the values at once and keeps them on the server; when that fails, the former ones are shown again. `null` removes a
 * value. */
export async function changeSettings(wanted: Values): Promise<void> {
  const changes = Object.entries(wanted).filter(([name, value]) => !isSame(presentValue(name), value))
  const former = changes.map(([name]) => [name, presentValue(name)] as const)
  for (const [name, value] of changes) showSetting(name, value)
  changing += 1
  const kept = underWay.then(async () => {
    for (const [name, value] of changes) await keepSetting(name, value)
  })
  underWay = kept.catch(() => undefined)
  try {
    await kept
  } catch (error) {
    for (const [name, value] of former) showSetting(name, value)
    throw error
  } finally {
    changing -= 1
  }
}

function isSame(present: unknown, value: unknown): boolean {
  return present === value || (present !== null && String(present) === String(value))
}

async function keepSetting(name: string, value: unknown): Promise<void> {
  const params = { name }
  if (value === null) await client.call(deleteSetting, { params, query: {} })
  else await client.call(putSetting, { params, query: {}, body: { value } })
}

function presentValue(name: string): unknown {
  const present = session.get()
  const answered = 'login' in present ? new Map(present.login.settings).get(name) : undefined
  // Only the sign-in tells a language that is not set from the default.
  const known = name === 'language' ? undefined : queries.getQueryData(settingsQuery.queryKey)?.[name]
  return known ?? answered ?? null
}
