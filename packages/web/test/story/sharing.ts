import { picture } from '../harness/picture.ts'
import { ben as account } from './arriving.ts'
import type { Device } from './device.ts'
import { type Step, step } from './stage.ts'

const folder = 'Plum harvest'

const row = ({ page }: Device, name: string) => page.getByRole('row', { name: new RegExp(name) })

/** What an identity's server shows Ben through the gateway of his own. */
async function namesAt(ben: Device, idTag: string, folderId: string): Promise<string> {
  const names = await ben.page.evaluate(`(async () => {
    const json = { 'content-type': 'application/json' }
    const body = JSON.stringify({ idTag: '${account.idTag}', password: '${account.password}' })
    const login = await (await fetch('/api/auth/login', { method: 'POST', headers: json, body })).json()
    const headers = { authorization: 'Bearer ' + login.data.token }
    const answer = await fetch('/api/at/${idTag}/files?sort=name&parentId=${folderId}', { headers })
    return (await answer.json()).data?.map(({ fileName }) => fileName).join() ?? String(answer.status)
  })()`)
  return String(names)
}

/** A guest's page keeps what the link gives in its history. */
async function uploadsAsGuest({ page }: Device, fileName: string): Promise<void> {
  const bytes = Buffer.from(await (await picture(20)).arrayBuffer()).toString('base64')
  const status = await page.evaluate(`(async () => {
    const { token, resourceId } = history.state.grant
    const body = Uint8Array.from(atob('${bytes}'), (char) => char.charCodeAt(0))
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'image/jpeg' }
    const path = '/api/files/default/${fileName}?parentId=' + resourceId
    return (await fetch(path, { method: 'POST', headers, body })).status
  })()`)
  if (status !== 201) throw new Error(`the upload was answered ${status}`)
}

export const sharing: readonly Step[] = [
  step('Anna makes a folder, and puts a photo into it', async ({ anna }) => {
    await anna.goesTo('Files')
    await anna.presses('New folder')
    await anna.fills('Name of the folder', folder)
    await anna.presses('Create')
    await row(anna, folder).click()
    await anna.seesScreen(folder)
    await anna.choosesPhoto('Upload', 'harvest.jpg', 300)
    await anna.sees('1 file uploaded')
    await row(anna, 'harvest.jpg').waitFor()
    return [anna]
  }),

  step('shares it with Ben, and by a link with whoever has no account', async ({ anna }) => {
    await anna.goesTo('Files')
    await anna.presses(`Actions for ${folder}`)
    await anna.page.getByRole('menuitem', { name: 'Share' }).click()
    await anna.fills('Identity', account.idTag)
    await anna.choosesFrom('May', 'view and edit')
    await anna.page.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click()
    await anna.page.getByRole('button', { name: 'End sharing with Ben Okafor' }).waitFor()
    await anna.page.getByText('New link', { exact: true }).click()
    await anna.fills('What it is for', 'For the neighbours')
    await anna.choosesFrom('Those who have it may', 'view and upload')
    await anna.presses('Make the link')
    await anna.sees('For the neighbours')
    await anna.presses('Copy')
    await anna.page.getByRole('dialog').getByRole('status').getByText('The link was copied.').waitFor()
    return [anna]
  }),

  step('Ben is told of the folder, and opens it at her server', async ({ anna, ben }, { annas }) => {
    await ben.follows(/^Notifications .*new/)
    await ben.sees(folder)
    await ben.presses('Accept: Anna Berg')
    await ben.sees('Accepted.')
    await anna.page.keyboard.press('Escape')
    await row(anna, folder).click()
    await anna.seesScreen(folder)
    const folderId = new URL(anna.page.url()).pathname.split('/').at(-1) ?? ''
    const names = await namesAt(ben, annas.idTag, folderId)
    if (names !== 'harvest.jpg') throw new Error(`Ben sees ${names}`)
    return [ben]
  }),

  step('A neighbour adds a photo by the link, and Anna sees it come', async ({ anna, guest }) => {
    await guest.opens(String(await anna.page.evaluate('navigator.clipboard.readText()')))
    await guest.presses('Show it')
    await guest.sees(folder)
    await guest.sees(/harvest\.jpg/)
    await uploadsAsGuest(guest, 'neighbours.jpg')
    await row(anna, 'neighbours.jpg').waitFor()
    return [guest, anna]
  }),
]
