import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { faultsOf, openPage, signInBrowser } from './browser.ts'
import { CommandLine } from './command-line.ts'
import type { Person, TestNetwork } from './test-network.ts'
import type { TestServer } from './test-server.ts'

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url))
const readmeExamples = fileURLToPath(new URL('../../../app/test/readme/', import.meta.url))

export interface AppPerson {
  readonly idTag: string
  readonly server: TestServer
}

/** Somebody of a network. A server that was taken down is another one when it is back. */
export function personAt(network: TestNetwork, { at, idTag }: Pick<Person, 'at' | 'idTag'>): AppPerson {
  return {
    idTag,
    get server() {
      return network.server(at)
    },
  }
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
  person: AppPerson,
  app: string,
  options: BrowserContextOptions = {},
) {
  const tab = await openPage(browser, options)
  await signInBrowser(tab.context, person.server, person.idTag)
  return await goToApp(tab, person, app)
}

/** Another tab of the same browser, on the page of another app. */
export async function openBeside(opened: OpenedApp, person: AppPerson, app: string): Promise<OpenedApp> {
  const page = await opened.context.newPage()
  return await goToApp({ context: opened.context, page, faults: faultsOf(page) }, person, app)
}

async function goToApp(tab: Awaited<ReturnType<typeof openPage>>, { idTag, server }: AppPerson, app: string) {
  await tab.page.goto(`${server.urlOf(idTag)}/apps/${idTag}/${app}`)
  return { ...tab, app: tab.page.frameLocator('#frame iframe') }
}

export type OpenedApp = Awaited<ReturnType<typeof goToApp>>

/** Makes a file with an app, and opens it. */
export async function makeFile({ page }: OpenedApp, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Create and open' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
}

/** Shares what is open, by the dialog of the host page. */
export async function shareFile(
  { page }: OpenedApp,
  network: TestNetwork,
  { idTag, mayWrite = true }: { readonly idTag: string; readonly mayWrite?: boolean },
): Promise<void> {
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByLabel('Identity of the other person').fill(idTag)
  await page.getByLabel('may also change it').setChecked(mayWrite)
  await page.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByText(`Shared with ${idTag}.`).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await network.settle()
}

/** Accepts a file that was shared, and opens it. */
export async function acceptFile(
  { page }: OpenedApp,
  { name, owner }: { readonly name: string; readonly owner: string },
): Promise<void> {
  await page.getByRole('button', { name: `Accept and open ${name}` }).click()
  await page.waitForURL(/[?&]file=/)
  await page.getByText(`is of ${owner}`).waitFor()
}
