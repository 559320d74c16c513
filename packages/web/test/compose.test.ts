import { uploadFile } from '@kith/client'
import { acceptAction, createAction, deleteFile, listActions, putSetting } from '@kith/protocol'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import type { TestServer } from '../../server/test/harness/test-server.ts'
import { isFocused } from './harness/focus.ts'
import { axeFindings, desk, openApp, startWebServer } from './harness/open-app.ts'
import { picture } from './harness/picture.ts'
import { anna, ben, carla } from './harness/small-town.ts'

const club = 'club.localhost'
const text = (page: Page) => page.getByRole('textbox', { name: 'Text' })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const notice = (page: Page, words: string) => page.getByRole('status').getByText(words)

async function waitTenSeconds(page: Page): Promise<void> {
  await page.clock.fastForward(10_000)
}

/** Chooses a file in the browser's dialog. */
async function addPicture(page: Page, name: string, hue: number): Promise<void> {
  const opening = page.waitForEvent('filechooser')
  await button(page, 'Pictures').click()
  const buffer = Buffer.from(await (await picture(hue, 90, 60)).arrayBuffer())
  await (await opening).setFiles({ name, mimeType: 'image/jpeg', buffer })
}

withChromium('the composer', (launch) => {
  let browser: Browser
  let server: TestServer
  beforeAll(async () => {
    browser = await launch()
    // Times that are typed are compared with those of the browser.
    server = await startWebServer({ baseIdTag: anna, clock: new TestClock(Date.now()) })
    await server.createTenant(ben, { name: 'Ben Okafor' })
    await server.createTenant(carla, { name: 'Carla Lindqvist' })
    const a = await server.as(anna)
    for (const other of [ben, carla]) {
      const { data } = await a.call(createAction, { body: { type: 'CONN', audienceTag: other } })
      await server.settle()
      await (await server.as(other)).call(acceptAction, { params: { actionId: data.actionId } })
      await server.settle()
    }
  })
  afterAll(async () => {
    await server?.stop()
  })

  const listPosts = async (status: 'A' | 'R' | 'S' = 'A') => {
    const query = { type: ['POST'] as ['POST'], status: [status], issuer: anna }
    return (await (await server.as(anna)).call(listActions, { query })).data
  }
  const filesOfDrafts = async () =>
    (await listPosts('R')).flatMap(({ files }) => files ?? []).map(({ fileName }) => fileName)
  const openComposer = async (path = '/new', options: Parameters<Browser['newContext']>[0] = {}) => {
    const opened = await openApp(browser, server, { idTag: anna, path, ...options })
    await opened.page.clock.install()
    return opened
  }
  test('shares pictures in their order, described, with connections, after ten seconds', async () => {
    const { page, faults } = await openComposer('/')
    await page.getByRole('link', { name: 'New', exact: true }).click()
    await text(page).fill('Two hills')
    await addPicture(page, 'one.jpg', 20)
    await addPicture(page, 'two.jpg', 200)
    await page.getByLabel('Who can read it').selectOption({ label: 'Connections' })
    await button(page, 'Share with 2 connections').click()
    await button(page, 'Describe').click()
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Description of one.jpg')
    await page.keyboard.type('A red hill')
    await button(page, 'Move one.jpg down').click()
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Move one.jpg down')
    await page.getByText('Saved as a draft').waitFor()
    // Elsewhere the bar at the lower edge has half of something below it.
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Share with 2 connections').click()
    await notice(page, 'Your post leaves soon').waitFor()
    expect(await listPosts()).toEqual([])
    await waitTenSeconds(page)
    await notice(page, 'Your post is shared.').waitFor()
    const [post] = await listPosts()
    expect(post).toMatchObject({
      visibility: 'C',
      content: { text: 'Two hills' },
      files: [{ fileName: 'two.jpg' }, { fileName: 'one.jpg', alt: 'A red hill' }],
    })
    expect(await listPosts('R')).toEqual([])
    await page.getByRole('article', { name: /Two hills/ }).waitFor()
    await page.mouse.move(0, 0)
    await page.clock.fastForward(20_000)
    await notice(page, 'Your post is shared.').waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  })

  test('is used by keys alone: names, tags, sharing and taking back', async () => {
    const { page, faults } = await openComposer('/', { viewport: desk })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('n')
    await expect.poll(() => isFocused(text(page))).toBe(true)
    await page.keyboard.type('Ask @ben')
    await page.getByRole('option', { name: 'Ben Okafor' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.keyboard.type('about it')
    await expect.poll(() => text(page).inputValue()).toBe(`Ask @${ben} about it`)
    await page.keyboard.press('Control+Enter')
    await notice(page, 'Your post leaves soon').waitFor()
    await button(page, 'Undo').press('Enter')
    await text(page).waitFor()
    await expect.poll(() => text(page).inputValue()).toBe(`Ask @${ben} about it`)
    await waitTenSeconds(page)
    await button(page, 'Throw away').press('Enter')
    await notice(page, 'The draft was thrown away.').waitFor()
    await expect.poll(() => listPosts('R')).toEqual([])
    await expect.poll(() => listPosts()).toHaveLength(1)
    expect(faults).toEqual([])
  })

  test('keeps what is typed over a reload, and what is put aside in the list of drafts', async () => {
    const { page, faults } = await openComposer()
    await text(page).fill('First thought')
    await page.reload()
    await expect.poll(() => text(page).inputValue()).toBe('First thought')
    await button(page, 'Put aside').click()
    await expect.poll(() => text(page).inputValue()).toBe('')
    await expect
      .poll(async () => (await listPosts('R')).map(({ content }) => content?.text))
      .toEqual(['First thought'])
    await page.getByRole('link', { name: 'Drafts and planned posts' }).click()
    await button(page, 'Open: First thought').click()
    await expect.poll(() => text(page).inputValue()).toBe('First thought')
    await page.getByRole('link', { name: 'Drafts and planned posts' }).click()
    await button(page, 'Delete: First thought').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Delete: First thought').click()
    await page.getByRole('heading', { name: 'No drafts' }).waitFor()
    await expect.poll(() => listPosts('R')).toEqual([])
    expect(faults).toEqual([])
  })

  test('sends what was shared without a connection once there is one, once', async () => {
    const before = await listPosts()
    const { page, context } = await openComposer()
    await text(page).fill('From the train')
    await context.setOffline(true)
    await button(page, /^Share/).click()
    await waitTenSeconds(page)
    await notice(page, 'Your post waits for the server.').waitFor()
    await context.setOffline(false)
    await notice(page, 'Your post is shared.').waitFor()
    await expect.poll(() => listPosts()).toHaveLength(before.length + 1)
  })

  test('sends what was shared when the page is left before it went', async () => {
    const { page } = await openComposer()
    await text(page).fill('And gone')
    await page.getByText('Saved as a draft').waitFor()
    await button(page, /^Share/).click()
    await notice(page, 'Your post leaves soon').waitFor()
    await page.goto('about:blank')
    await expect.poll(async () => (await listPosts())[0]?.content?.text).toBe('And gone')
    await page.goBack()
    await notice(page, 'Your post is shared.').waitFor()
    expect((await listPosts()).filter(({ content }) => content?.text === 'And gone')).toHaveLength(1)
  })

  test('plans a post, in German', async () => {
    const speak = async (value: string) =>
      (await server.as(anna)).call(putSetting, { params: { name: 'language' }, body: { value } })
    await speak('de')
    onTestFinished(async () => void (await speak('en')))
    const { page, faults } = await openComposer('/new', { locale: 'de-DE', colorScheme: 'dark' })
    await page.getByRole('textbox', { name: 'Text' }).fill('Morgen Chor')
    await page.getByText('Wann', { exact: true }).click()
    await page.getByLabel('Später teilen').fill('2020-01-01T10:00')
    await page.getByText('Diese Zeit ist vorbei.').waitFor()
    const year = new Date().getFullYear() + 1
    await page.getByLabel('Später teilen').fill(`${year}-01-01T10:00`)
    expect(await axeFindings(page)).toEqual([])
    await button(page, /^Mit .* teilen, .*Januar/).click()
    await notice(page, 'Dein Beitrag ist geplant.').waitFor()
    await expect.poll(() => listPosts('S')).toMatchObject([{ content: { text: 'Morgen Chor' } }])
    await button(page, 'Entwürfe und geplante Beiträge').click()
    await button(page, 'Öffnen: Morgen Chor').click()
    await expect.poll(() => page.getByLabel('Später teilen').inputValue()).toBe(`${year}-01-01T10:00`)
    await expect.poll(() => listPosts('S')).toEqual([])
    await button(page, 'Verwerfen').click()
    expect(faults).toEqual([])
  })

  describe('in the states of the composer', () => {
    test('a text that is too long is counted in code points, and cannot be shared', async () => {
      const { page } = await openComposer()
      await text(page).fill('👍'.repeat(50_001))
      await page.getByText('The text is 1 character too long.').waitFor()
      await expect.poll(() => button(page, /^Share/).getAttribute('title')).toBe('The text is too long')
      await text(page).fill('👍'.repeat(50_000))
      await page.getByText('Kept on this device only.').waitFor()
      await button(page, 'Throw away').click()
    })

    test('what was typed stays while one signs in again', async () => {
      const { page } = await openComposer()
      await text(page).fill('Before the session ended')
      await server.suspend(anna)
      await server.resume(anna)
      await page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
      await expect.poll(() => text(page).inputValue()).toBe('Before the session ended')
    })

    test('a post is written again, and the old one deleted once the new one is there', async () => {
      const a = await server.as(anna)
      const body = { type: 'POST', visibility: 'C', content: { text: 'With a tpyo' } } as const
      const { data } = await a.call(createAction, { body })
      const { page } = await openComposer(`/new?again=${encodeURIComponent(data.actionId)}`)
      await expect.poll(() => text(page).inputValue()).toBe('With a tpyo')
      await text(page).fill('With a typo')
      await button(page, 'Share with 2 connections').click()
      await waitTenSeconds(page)
      await notice(page, 'Your post is shared.').waitFor()
      await expect
        .poll(async () => (await listPosts()).map(({ content }) => content?.text))
        .not.toContain('With a tpyo')
      expect((await listPosts())[0]?.content?.text).toBe('With a typo')
    })

    test('what the server refuses comes back with its text', async () => {
      const { page } = await openComposer()
      await text(page).fill('With a picture that is gone')
      await addPicture(page, 'gone.jpg', 80)
      const kept = async () => (await listPosts('R')).flatMap(({ attachments }) => attachments ?? [])
      await expect.poll(kept).toHaveLength(1)
      const [fileId = ''] = await kept()
      const a = await server.as(anna)
      const params = { fileId: fileId as never }
      await a.call(deleteFile, { params })
      await a.call(deleteFile, { params, query: { permanent: true } })
      await button(page, /^Share/).click()
      await button(page, 'Share without').click()
      await waitTenSeconds(page)
      await notice(page, 'Your post was not shared.').waitFor()
      await button(page, 'Open').click()
      await expect.poll(() => text(page).inputValue()).toBe('With a picture that is gone')
      await button(page, 'Throw away').click()
    })

    test('an upload that lost its connection goes on by itself, and one that is not wanted is removed', async () => {
      const { page, context } = await openComposer()
      await text(page).fill('Uploads')
      await context.setOffline(true)
      await addPicture(page, 'late.jpg', 120)
      await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
      await expect.poll(() => button(page, /^Share/).getAttribute('title')).toBe('1 file is not uploaded yet')
      expect(await axeFindings(page)).toEqual([])
      await context.setOffline(false)
      await expect.poll(() => button(page, /^Share/).getAttribute('title')).toBe('')
      await button(page, 'Remove late.jpg').click()
      await button(page, 'Remove late.jpg').waitFor({ state: 'detached' })
      await button(page, 'Throw away').click()
    })

    test('it is a dialog on a desk, over the screen one came from, and a page on a phone', async () => {
      const { page, faults } = await openComposer('/people', { viewport: desk })
      await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
      await page.keyboard.press('n')
      const dialog = page.getByRole('dialog', { name: 'New post' })
      await expect.poll(() => isFocused(text(page))).toBe(true)
      await dialog.getByRole('heading', { name: 'New post', level: 1 }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
      await expect
        .poll(() => page.evaluate('location.pathname + " " + document.title'))
        .toMatch(/^\/people People/)
      const { page: small } = await openComposer('/new')
      await text(small).waitFor()
      expect(await small.getByRole('dialog').count()).toBe(0)
      expect(faults).toEqual([])
    })

    test('files that are on the server are chosen, once each', async () => {
      const a = await server.as(anna)
      await uploadFile(a, await picture(10, 90, 60), { fileName: 'kept-hill.jpg' })
      const { page, faults } = await openComposer('/new', { viewport: desk })
      await text(page).fill('From the files')
      await button(page, 'From your files').click()
      const picker = page.getByRole('dialog', { name: 'From your files' })
      await picker.getByRole('searchbox', { name: 'Search your files' }).fill('kept-hill')
      await picker.getByRole('checkbox', { name: 'kept-hill.jpg' }).waitFor()
      await expect.poll(() => picker.getByRole('checkbox').count()).toBe(1)
      await picker.getByRole('checkbox', { name: 'kept-hill.jpg' }).check()
      expect(await axeFindings(page)).toEqual([])
      await button(page, 'Add 1 file').click()
      await page.getByRole('textbox', { name: 'Description of kept-hill.jpg' }).fill('A hill')
      await page.getByText('More people will see a picture or file than can see it now.').waitFor()
      await button(page, 'From your files').click()
      await picker.getByRole('searchbox', { name: 'Search your files' }).fill('kept-hill')
      await picker.getByText('No file is offered here.').waitFor()
      await picker.getByRole('button', { name: 'Close' }).click()
      await expect.poll(filesOfDrafts).toContain('kept-hill.jpg')
      await button(page, 'Throw away').click()
      expect(faults).toEqual([])
    })

    test('a post is quoted, with what one says about it', async () => {
      const b = await server.as(ben)
      const body = { type: 'POST', visibility: 'P', content: { text: 'The choir sings on Friday' } } as const
      const { data } = await b.call(createAction, { body })
      await server.settle()
      const { page, faults } = await openComposer('/')
      await button(page, 'More about the post of Ben Okafor').click()
      await page.getByRole('menuitem', { name: 'Share with a comment' }).click()
      await page.getByText('About the post of Ben Okafor').waitFor()
      await text(page).fill('I bring the scores')
      await page.getByText('Saved as a draft').waitFor()
      await button(page, /^Share with/).click()
      await waitTenSeconds(page)
      await notice(page, 'Your post is shared.').waitFor()
      const query = { type: ['SHRE'] as const, issuer: anna }
      const shared = (await (await server.as(anna)).call(listActions, { query })).data
      expect(shared).toMatchObject([{ subject: data.actionId, content: { text: 'I bring the scores' } }])
      const card = page.getByRole('article', { name: /I bring the scores/ })
      await card.getByText('The choir sings on Friday').waitFor()
      expect(faults).toEqual([])
    })

    test('files are pasted', async () => {
      const { page } = await openComposer()
      await text(page).focus()
      await page.evaluate(`{
        const clipboardData = new DataTransfer()
        clipboardData.items.add(new File(['Bread'], 'shopping.txt', { type: 'text/plain' }))
        const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
        document.activeElement.dispatchEvent(paste)
      }`)
      await page.getByText('Saved as a draft').waitFor()
      await expect.poll(filesOfDrafts).toContain('shopping.txt')
      await button(page, 'Throw away').click()
    })

    test('files are dropped, and a post is deleted again at the time that is chosen', async () => {
      const { page, faults } = await openComposer()
      await text(page).fill('Only for the party')
      await page.evaluate(`{
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['Cake'], 'party.txt', { type: 'text/plain' }))
        const dropped = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
        for (const type of ['dragover', 'drop']) document.querySelector('main form').dispatchEvent(dropped(type))
      }`)
      await button(page, 'Remove party.txt').waitFor()
      await page.getByText('When', { exact: true }).click()
      const year = new Date().getFullYear() + 1
      await page.getByLabel('Delete again').fill(`${year}-01-01T10:00`)
      await expect.poll(() => button(page, /^Share with/).getAttribute('title')).toBe('')
      await button(page, /^Share with/).click()
      await waitTenSeconds(page)
      await notice(page, 'Your post is shared.').waitFor()
      const expiresAt = Math.floor(new Date(`${year}-01-01T10:00`).getTime() / 1000)
      const [post] = await listPosts()
      expect(post).toMatchObject({ expiresAt, files: [{ fileName: 'party.txt' }] })
      expect(faults).toEqual([])
    })

    test.each([-600_000, 600_000])(
      'by a clock that is off by %i ms what is written is shared once, and stands above what is older',
      async (offMs) => {
        const before = await listPosts()
        const { page, faults } = await openApp(browser, server, { idTag: anna, path: '/new' })
        await page.clock.install({ time: Date.now() + offMs })
        await page.reload()
        await text(page).fill(`By a clock that is off by ${offMs}`)
        await button(page, /^Share/).click()
        await waitTenSeconds(page)
        await notice(page, 'Your post is shared.').waitFor()
        await expect.poll(() => listPosts()).toHaveLength(before.length + 1)
        const first = page.getByRole('feed').getByRole('article').first()
        await first.filter({ hasText: `By a clock that is off by ${offMs}` }).waitFor()
        await expect.poll(() => first.getByRole('time').first().innerText()).toMatch(/now|ago/)
        await page.reload()
        await expect.poll(() => first.getAttribute('aria-label')).toContain('By a clock that is off')
        expect(await listPosts()).toHaveLength(before.length + 1)
        expect(faults).toEqual([])
      },
    )

    test('a picture that goes to more people than see it is warned of', async () => {
      const a = await server.as(anna)
      const { fileId } = await uploadFile(a, await picture(300, 90, 60), { fileName: 'inner.jpg' })
      const body = {
        type: 'POST',
        visibility: 'C',
        content: { text: 'Inner' },
        attachments: [fileId],
      } as const
      const { data } = await a.call(createAction, { body: { ...body, attachments: [...body.attachments] } })
      const { page } = await openComposer(`/new?again=${encodeURIComponent(data.actionId)}`)
      const warning = page.getByText('More people will see a picture or file than can see it now.')
      await button(page, 'Share with 2 connections').waitFor()
      expect(await warning.count()).toBe(0)
      await page.getByLabel('Who can read it').selectOption({ label: 'Everybody' })
      await warning.waitFor()
      expect(await axeFindings(page)).toEqual([])
    })

    test('a post goes to a community, and the choice is remembered there', async () => {
      await server.createTenant(club, { type: 'community', name: 'Garden club' })
      await server.relate(anna, club, { connection: 'connected' })
      await server.relate(club, anna, { connection: 'connected' })
      const { page } = await openComposer(`/new?to=${club}`)
      await text(page).fill('Who waters on Monday?')
      await page.getByLabel('Who can read it').selectOption({ label: 'Everybody, in Garden club' })
      await button(page, 'Share with everybody, in Garden club').click()
      await waitTenSeconds(page)
      await notice(page, 'Your post is shared.').waitFor()
      expect((await listPosts())[0]).toMatchObject({ audienceTag: club, visibility: 'P' })
      await page.goto(`${server.urlOf(anna)}/new?to=${club}`)
      await button(page, 'Share with everybody, in Garden club').waitFor()
      await page.goto(`${server.urlOf(anna)}/new`)
      await expect.poll(() => button(page, /^Share/).textContent()).not.toMatch(/Garden club|club\.localhost/)
    })

    test('two tabs do not write the same draft', async () => {
      const { page, context } = await openComposer()
      await text(page).fill('In the first tab')
      const other = await context.newPage()
      await other.goto(page.url())
      await other.getByRole('heading', { name: 'This draft is open in another tab.' }).waitFor()
      await other.getByRole('link', { name: 'Write a post' }).click()
      await expect.poll(() => text(other).inputValue()).toBe('')
    })
  })
})
