import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, uploadFile } from '@kith/client'
import {
  deleteFile,
  deleteSetting,
  getUsage,
  listFiles,
  listSessions,
  putSetting,
  revokeSession,
} from '@kith/protocol'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { type TestServer, testPassword } from '../../server/test/harness/test-server.ts'
import { chooseFiles, filesIn, namesIn, pictureFile, rowOf } from './harness/file-steps.ts'
import { axeFindings, desk, openApp } from './harness/open-app.ts'
import { anna, startSmallTown } from './harness/small-town.ts'

// How many files' bytes this browser keeps for uploads.
const keptFiles = `new Promise(async (resolve) => {
  const known = await indexedDB.databases()
  if (!known.some(({ name }) => name === 'kith-uploads')) return resolve(-1)
  const opening = indexedDB.open('kith-uploads')
  opening.onerror = () => resolve(-1)
  opening.onsuccess = () => {
    const { result: db } = opening
    if (!db.objectStoreNames.contains('bytes')) return resolve(-1)
    const counting = db.transaction('bytes').objectStore('bytes').count()
    counting.onsuccess = () => {
      db.close()
      resolve(counting.result)
    }
  }
})`

// A request of 16 MiB that is held goes through the test's own process, which takes long on a busy machine.
const filmMs = 120_000

// What a browser does that needs the room.
const dropKeptBytes = `new Promise((resolve) => {
  const opening = indexedDB.open('kith-uploads')
  opening.onsuccess = () => {
    const change = opening.result.transaction('bytes', 'readwrite')
    change.objectStore('bytes').clear()
    change.oncomplete = () => {
      opening.result.close()
      resolve()
    }
  }
})`

withChromium('uploads', (launch) => {
  let browser: Browser
  let server: TestServer
  let a: Client
  let folderId: string
  beforeAll(async () => {
    browser = await launch()
    const town = await startSmallTown()
    server = town.server
    folderId = town.folderId
    a = await server.as(anna)
  })
  afterAll(async () => {
    await server?.stop()
  })

  const open = (path: string, options: object = {}) =>
    openApp(browser, server, { idTag: anna, path, viewport: desk, ...options })
  const hold = async (page: Page, pattern: string) => {
    const arrived = Promise.withResolvers<void>()
    await page.route(pattern, async (route) => {
      if (route.request().method() === 'GET') return route.continue()
      arrived.resolve()
    })
    return arrived
  }
  const release = (page: Page) => page.unrouteAll({ behavior: 'ignoreErrors' })
  const filmOf = async (bytes: number, name = 'film.bin') => {
    const chosen = await mkdtemp(join(tmpdir(), 'kith-film-'))
    onTestFinished(() => rm(chosen, { recursive: true }))
    const film = join(chosen, name)
    await writeFile(film, Buffer.alloc(bytes))
    return film
  }

  test('what was dropped is uploaded, once what is too large is named', async () => {
    await a.call(putSetting, { params: { name: 'limits.max_file_mb' }, body: { value: 1 } })
    onTestFinished(async () => {
      await a.call(deleteSetting, { params: { name: 'limits.max_file_mb' } })
    })
    const { page } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').waitFor()
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(2 ** 21)], 'film.mp4', { type: 'video/mp4' }))
      data.items.add(new File(['a word'], 'note.txt', { type: 'text/plain' }))
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }))
    }`)
    await page.getByText('1 uploaded, 1 not').waitFor()
    const panel = page.getByRole('region', { name: 'Uploads' })
    await panel.getByText(/larger than the server takes/).waitFor()
    await rowOf(page, 'note.txt').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await panel.getByRole('button', { name: 'Close' }).click()
    await panel.waitFor({ state: 'detached' })
  })

  test('who uploads a broken picture reads what is wrong with it', async () => {
    const whole = await pictureFile('broken.jpg', 90)
    const { page } = await open('/files')
    await chooseFiles(page, 'Upload', [
      { ...whole, buffer: whole.buffer.subarray(0, 400) },
      { name: 'words.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('%PDF-1.7 no picture') },
    ])
    await page.getByText('1 uploaded, 1 not').waitFor()
    await page
      .getByRole('region', { name: 'Uploads' })
      .getByText(/not of the kind that its name says/)
      .waitFor()
    const isRefused = async () => {
      const found = (await filesIn(a, '__root__')).find(({ fileName }) => fileName === 'broken.jpg')
      return found?.x?.processingError
    }
    await expect.poll(isRefused).toBe('The picture is damaged.')
    await page.reload()
    await rowOf(page, 'broken.jpg').getByText('broken.jpg').click()
    await page
      .getByRole('dialog', { name: 'broken.jpg' })
      .getByText(/The picture is damaged/)
      .waitFor()
  })

  test('a large upload is paused, and goes on where it was', { timeout: filmMs }, async () => {
    const film = await filmOf(17 * 2 ** 20)
    const { page, faults } = await open('/files')
    const begun: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/api/uploads')) begun.push(request.url())
    })
    const arrived = Promise.withResolvers<void>()
    await page.route('**/api/uploads/*', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      arrived.resolve()
    })
    await chooseFiles(page, 'Upload', film)
    await arrived.promise
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByText('1 file uploaded').waitFor()
    expect(begun).toHaveLength(1)
    await expect.poll(() => namesIn(a, '__root__')).toContain('film.bin')
    expect(faults).toEqual([])
  })

  test('names that are there already are asked about, and get a number', async () => {
    const { page } = await open('/files')
    await page.clock.install()
    await chooseFiles(page, 'Upload', [await pictureFile('portrait.jpg', 50)])
    await page.getByRole('dialog', { name: 'Already there' }).getByText('portrait.jpg').waitFor()
    await page.getByRole('button', { name: 'Keep both' }).click()
    await page.getByText('1 file uploaded').waitFor()
    await expect.poll(() => namesIn(a, '__root__')).toContain('portrait (2).jpg')
    // Nothing is left to say.
    await page.mouse.move(0, 0)
    await page.clock.fastForward(10_000)
    await page.getByRole('region', { name: 'Uploads' }).waitFor({ state: 'detached' })
  })

  test('a broken connection delays an upload, and loses nothing', async () => {
    const { page, context } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').waitFor()
    let isBroken = true
    await page.route('**/api/files/default/**', (route) => (isBroken ? route.abort() : route.continue()))
    await chooseFiles(page, 'Upload', [await pictureFile('late.jpg', 150)])
    await page.getByText('The connection is interrupted.').waitFor()
    isBroken = false
    await page.getByRole('link', { name: 'Home' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await context.setOffline(true)
    await context.setOffline(false)
    await page.getByText('1 file uploaded').waitFor()
    await expect.poll(() => namesIn(a, folderId)).toContain('late.jpg')
  })

  test('what is there already is replaced, when someone wants it', async () => {
    const [former] = (await filesIn(a, folderId)).filter(({ fileName }) => fileName === 'evening-40.jpg')
    const { page, faults } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-40.jpg').waitFor()
    await chooseFiles(page, 'Upload', [await pictureFile('evening-40.jpg', 170)])
    await page.getByRole('dialog', { name: 'Already there' }).getByRole('button', { name: 'Replace' }).click()
    await page.getByText('1 file uploaded').waitFor()
    const present = (await filesIn(a, folderId)).filter(({ fileName }) => fileName.startsWith('evening-40'))
    expect(present).toHaveLength(1)
    expect(present[0]?.fileId).not.toBe(former?.fileId)
    const { data: trash } = await a.call(listFiles, { query: { parentId: '__trash__' } })
    expect(trash.map(({ fileId }) => fileId)).toContain(former?.fileId)
    expect(faults).toEqual([])
  })

  test('an upload goes on after the page was loaded anew, once', async () => {
    const { page } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').waitFor()
    const arrived = await hold(page, '**/api/files/default/**')
    await chooseFiles(page, 'Upload', [
      await pictureFile('kept.jpg', 30),
      await pictureFile('kept too.jpg', 60),
    ])
    await arrived.promise
    await expect.poll(() => page.evaluate(keptFiles)).toBe(2)
    // What is held would go on its way without whoever holds it: it ends with the page.
    await page.reload()
    await release(page)
    await page.getByText('2 files uploaded').waitFor()
    expect((await namesIn(a, folderId)).filter((name) => name.startsWith('kept'))).toEqual([
      'kept too.jpg',
      'kept.jpg',
    ])
    await expect.poll(() => page.evaluate(keptFiles)).toBe(0)
    await page.reload()
    await rowOf(page, 'kept.jpg').waitFor()
    expect(await page.getByRole('region', { name: 'Uploads' }).count()).toBe(0)
  })

  test('a file of which no answer came is not there twice', async () => {
    const { page } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').waitFor()
    const stored = Promise.withResolvers<void>()
    const cake = await pictureFile('answerless.jpg', 110)
    await page.route(
      '**/api/files/default/**',
      async (route) => {
        const createdAt = new Date(new URL(route.request().url()).searchParams.get('createdAt') ?? '')
        const bytes = new Blob([new Uint8Array(cake.buffer)], { type: cake.mimeType })
        await uploadFile(a, bytes, { fileName: cake.name, parentId: folderId, createdAt })
        stored.resolve()
      },
      { times: 1 },
    )
    await chooseFiles(page, 'Upload', [cake])
    await stored.promise
    await expect.poll(() => page.evaluate(keptFiles)).toBe(1)
    await page.reload()
    await page.getByText('1 file uploaded').waitFor()
    expect((await namesIn(a, folderId)).filter((name) => name.startsWith('answerless'))).toHaveLength(1)
  })

  test('a large film goes on where it was after the page was left, from the file that is chosen again', {
    timeout: filmMs,
  }, async () => {
    const film = await filmOf(17 * 2 ** 20, 'long film.bin')
    const { page, go } = await open('/files')
    const begun: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/api/uploads')) begun.push(request.url())
    })
    const arrived = await hold(page, '**/api/uploads/*')
    await chooseFiles(page, 'Upload', film)
    await arrived.promise
    await expect.poll(() => page.evaluate(keptFiles)).toBe(1)
    await page.evaluate(dropKeptBytes)
    await go('/notifications')
    await page.getByText('This page was left while 1 file was under way').waitFor()
    await release(page)
    await chooseFiles(page, 'Choose again', [await pictureFile('another.jpg', 10)])
    await page.getByText('This is another file.').waitFor()
    await chooseFiles(page, 'Choose again', film)
    await page.getByText('1 file uploaded').waitFor()
    expect(begun).toHaveLength(1)
    await expect.poll(() => namesIn(a, '__root__')).toContain('long film.bin')
  })

  test('a session that is ended in the middle loses nothing', async () => {
    const { page } = await open(`/files/${folderId}`)
    await rowOf(page, 'evening-0.jpg').waitFor()
    const held = Promise.withResolvers<Route>()
    await page.route('**/api/files/default/**', held.resolve, { times: 1 })
    await chooseFiles(page, 'Upload', [await pictureFile('after all.jpg', 210)])
    const route = await held.promise
    const { data: sessions } = await a.call(listSessions)
    for (const { sid, current } of sessions) if (!current) await a.call(revokeSession, { params: { sid } })
    await route.continue()
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.getByLabel('Password').fill(testPassword)
    await again.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('1 file uploaded').waitFor()
    expect(await namesIn(a, folderId)).toContain('after all.jpg')
  })

  test('without room it is said before, with what could go, and what fits is sent', async () => {
    const trashed = (await filesIn(a, folderId)).find(({ fileName }) => fileName === 'evening-300.jpg')
    await a.call(deleteFile, { params: { fileId: trashed?.fileId ?? '' } })
    // What is made of pictures takes room as well.
    await server.settle()
    const { data: usage } = await a.call(getUsage)
    const value = (usage.usedBytes + 1_000) / 2 ** 30
    await a.call(putSetting, { params: { name: 'limits.max_storage_gb' }, body: { value } })
    onTestFinished(async () => {
      await a.call(deleteSetting, { params: { name: 'limits.max_storage_gb' } })
    })
    const { page, faults } = await open('/files')
    await rowOf(page, 'Summer in the hills').waitFor()
    await chooseFiles(page, 'Upload', [
      { name: 'small.txt', mimeType: 'text/plain', buffer: Buffer.from('a word') },
      { name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(2_000, 'word ') },
    ])
    const dialog = page.getByRole('dialog', { name: 'Not enough room' })
    await dialog.getByText('What takes the most room').waitFor()
    await dialog.getByRole('button', { name: 'Upload the 1 file that fits' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Empty the trash' }).click()
    await dialog.getByRole('button', { name: /^Delete \d+ files? now: / }).click()
    await page.getByText('2 files uploaded').waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('a choice of files may stay open for long', async () => {
    const { page, context, faults } = await openApp(browser, server, { idTag: anna, path: '/files' })
    await rowOf(page, 'portrait.jpg').waitFor()
    const folder = await mkdtemp(join(tmpdir(), 'kith-late-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'late.txt')
    await writeFile(file, 'Late')
    // By hand: Playwright's own choice keeps the field.
    const devtools = await context.newCDPSession(page)
    await devtools.send('DOM.enable')
    await devtools.send('Page.enable')
    await devtools.send('Page.setInterceptFileChooserDialog', { enabled: true })
    const opened = new Promise<{ backendNodeId?: number }>((resolve) =>
      devtools.once('Page.fileChooserOpened', resolve),
    )
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    const { backendNodeId = 0 } = await opened
    await devtools.send('HeapProfiler.collectGarbage')
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    await devtools.send('HeapProfiler.collectGarbage')
    await devtools.send('DOM.setFileInputFiles', { files: [file], backendNodeId })
    await page.getByText('late.txt').first().waitFor()
    expect(faults).toEqual([])
  })
})
