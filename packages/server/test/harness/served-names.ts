import { join } from 'node:path'
import { expect } from 'vitest'
import { linkIn, readMails } from './mail-files.ts'
import type { ServerProcess } from './server-process.ts'

/** Sets a setting of the base tenant of a process. */
export async function setSetting(server: ServerProcess, setting: string, value: unknown): Promise<void> {
  await send(server, 'PUT', `/api/settings/${setting}`, { value })
}

/** An active name of the base tenant of a process, which is a provider. */
export async function giveName(server: ServerProcess, label: string, address: string): Promise<void> {
  const { idTag, dataDir } = server.place
  const email = `${label}@example.org`
  await send(server, 'POST', '/api/idp/identities', { idTag: `${label}.${idTag}`, email, address })
  const mailTo = async () => (await readMails(join(dataDir, 'mail'))).find(({ to }) => to === email)
  await expect.poll(mailTo).toBeDefined()
  const mail = await mailTo()
  const refId = new URL(mail ? linkIn(mail) : '').hash.slice('#token='.length)
  await send(server, 'POST', '/api/idp/activate', { refId })
}

async function send(server: ServerProcess, method: string, path: string, body: object): Promise<void> {
  const headers = { ...(await server.signIn()), 'content-type': 'application/json' }
  const answer = await server.request(path, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
}
