import type { Client } from '@kith/client'
import { type FileView, listFiles } from '@kith/protocol'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { picture } from './picture.ts'

/** The row of a file in a list or among tiles. */
export function rowOf(page: Page, name: string | RegExp) {
  return page.getByRole('row').filter({ has: page.getByText(name, { exact: typeof name === 'string' }) })
}

/** Waits until a picture that is opened whole has come and stands inside the window. */
export async function inWindow(page: Page, name: string): Promise<void> {
  const image = page.getByRole('dialog', { name }).getByRole('img', { name })
  await expect
    .poll(async () => {
      const box = await image.boundingBox()
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
      if (!box || box.width < 100) return false
      return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
    })
    .toBe(true)
}

/** Presses a button that opens the browser's choice of files, and chooses some. */
export async function chooseFiles(
  page: Page,
  button: string,
  files: Parameters<Page['setInputFiles']>[1],
): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: button, exact: true }).click()
  await (await chooser).setFiles(files)
}

/** A picture as the browser's choice of files takes it. */
export async function pictureFile(name: string, hue: number) {
  return { name, mimeType: 'image/jpeg', buffer: Buffer.from(await (await picture(hue)).arrayBuffer()) }
}

/** The files of a folder as the server has them, by name. */
export async function filesIn(client: Client, parentId: string): Promise<readonly FileView[]> {
  const query = { parentId, limit: 100, sort: 'name', sortDir: 'asc' } as const
  return (await client.call(listFiles, { query })).data
}

export async function namesIn(client: Client, parentId: string): Promise<readonly string[]> {
  return (await filesIn(client, parentId)).map(({ fileName }) => fileName)
}
