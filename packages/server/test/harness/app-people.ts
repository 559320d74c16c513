import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { openPage, signInBrowser } from './browser.ts'
import { CommandLine } from './command-line.ts'
import type { TestServer } from './test-server.ts'

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url))
const readmeExamples = fileURLToPath(new URL('../../../app/test/readme/', import.meta.url))

export interface AppPerson {
  readonly idTag: string
  readonly server: TestServer
}

/** Publishes an example app on the host of a person, and installs it there, as its author would. */
export async function publishExample({ idTag, server }: AppPerson, name: 'todo' | 'poll'): Promise<void> {
  await using line = await CommandLine.open({ KITH_TOKEN: await server.signIn(idTag) })
  const words = ['app', 'publish', `${examples}${name}`, '--server', server.urlOf(idTag), '--install']
  await line.json(...words)
}

/** Makes an app whose script is an example of the SDK's README, publishes and installs it. */
export async function publishReadmeExample(
  { idTag, server }: AppPerson,
  example: { readonly name: string; readonly manifest: object },
): Promise<void> {
  const { name } = example
  await using line = await CommandLine.open({ KITH_TOKEN: await server.signIn(idTag) })
  const folder = join(line.folder, name)
  const { manifest } = await line.json('app', 'init', folder)
  await cp(`${readmeExamples}${name}.ts`, join(folder, 'src/main.ts'))
  const changed = { ...manifest, ...example.manifest }
  await writeFile(join(folder, 'app.json'), JSON.stringify(changed))
  await line.json('app', 'publish', folder, '--server', server.urlOf(idTag), '--install')
}

/** A tab of a person who has signed in, on the page of an app. */
export async function openApp(
  browser: Browser,
  { idTag, server }: AppPerson,
  app: string,
  options: BrowserContextOptions = {},
) {
  const opened = await openPage(browser, options)
  const { context, page } = opened
  await signInBrowser(context, server, idTag)
  await page.goto(`${server.urlOf(idTag)}/apps/${idTag}/${app}`)
  return { ...opened, app: page.frameLocator('#frame iframe') }
}

export type OpenedApp = Awaited<ReturnType<typeof openApp>>
