import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { IdTag } from '@kith/protocol'
import { writeDurably } from '#lib/durable-file.ts'
import type { Services } from './services.ts'

/** The file with the set-up link, for users of this machine that may read the data directory. */
export function setUpLinkFile(dataDir: string): string {
  return join(dataDir, 'setup-link')
}

/** Writes the set-up link (0600), or removes the file of a start before when there is no link any more. */
export async function keepSetUpLink(dataDir: string, url: string | undefined): Promise<void> {
  if (url === undefined) await removeSetUpLink(dataDir)
  else await writeDurably(setUpLinkFile(dataDir), `${url}\n`)
}

/** Removes the file: the link was used. */
export async function removeSetUpLink(dataDir: string): Promise<void> {
  await rm(setUpLinkFile(dataDir), { force: true })
}

/** Removes the set-up link once the base tenant has a password. */
export function forgetSetUpLink({ config, logger }: Pick<Services, 'config' | 'logger'>, idTag: IdTag): void {
  if (idTag !== config.baseIdTag) return
  removeSetUpLink(config.dataDir).catch((error: unknown) =>
    logger.warn({ err: error }, 'the file of the set-up link could not be removed'),
  )
}
