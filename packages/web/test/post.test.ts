import { createAction, type IdTag } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TenantId } from '../../server/src/infra/db/index.ts'
import { withChromium } from '../../server/test/harness/browser.ts'
import { axeFindings, openApp, openHearing } from './harness/open-app.ts'
import { countPainted, holdAnswer } from './harness/own-answers.ts'
import { anna, ben, carla, type SmallTown, startSmallTown } from './harness/small-town.ts'

let browser: Browser
let town: SmallTown

const pathOf = (actionId: string) => `/posts/${encodeURIComponent(actionId)}`

async function openPost(actionId = town.postId, idTag = anna) {
  const opened = await openApp(browser, town.server, { idTag, path: pathOf(actionId) })
  await opened.page.getByRole('heading', { level: 1 }).waitFor()
  return opened
}

async function say(idTag: string, parentId: string, text: string): Promise<string> {
  const client = await town.server.as(idTag)
  const { data } = await client.call(createAction, { body: { type: 'CMNT', parentId, content: { text } } })
  await town.server.settle()
  return data.actionId
}

/** Opens the app so that it hears what happens from then on. */
async function openTownHearing(path: string) {
  return await openHearing(browser, town.server, { idTag: anna, path })
}

/** Makes of an action that Anna holds what another server would have to do otherwise. */
async function change(actionId: string, columns: { readonly unverified: 1 } | { readonly mismatched: 1 }) {
  const { services, features } = town.server.running
  const home = await features.identity.tenants.find(anna as IdTag)
  await services.db.transact(home?.tenantId as TenantId, async (tx) => {
    const actions = tx
      .tables<{ actions: { action_id: string; unverified: number; mismatched: number } }>()
      .updateTable('actions')
    await actions.set(columns).where('action_id', '=', actionId).execute()
  })
}

function useTown(launch: () => Promise<Browser>) {
  beforeAll(async () => {
    browser = await launch()
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })
}

withChromium('a post', (launch) => {
  useTown(launch)

  test('is commented, answered and heard of live', async () => {
    const { page, faults } = await openTownHearing(pathOf(town.postId))
    const comment = (text: string) => page.getByRole('article').filter({ hasText: text })
    await page.getByRole('textbox', { name: 'Your comment' }).fill('What a light')
    await page.getByRole('button', { name: 'Send' }).click()
    await comment('What a light').waitFor()
    await comment('The second one!')
      .getByRole('button', { name: 'Answer the comment of Carla Lindqvist' })
      .click()
    await page.getByRole('textbox', { name: 'Your answer to Carla Lindqvist' }).fill('I prefer the third')
    await page.getByRole('button', { name: 'Send' }).first().click()
    await comment('I prefer the third').waitFor()
    await say(carla, town.postId, 'Heard at once')
    await comment('Heard at once').waitFor()
    await expect.poll(() => page.getByRole('article').filter({ hasText: 'What a light' }).count()).toBe(1)
    await expect.poll(() => page.getByRole('article', { name: 'Your comment' }).count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('shows its pictures with what they show in words, by keys', async () => {
    const { page } = await openPost()
    await page.getByRole('button', { name: 'Picture 1 of 3: A sun over coloured hills' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Picture 1 of 3' })
    await dialog.getByText('A sun over coloured hills').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog', { name: 'Picture 2 of 3' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('shows a picture as large as the window lets it', async () => {
    const { page } = await openPost()
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Picture 1 of 3: A sun over coloured hills' }).click()
    const image = page.getByRole('dialog').getByRole('img', { name: 'A sun over coloured hills' })
    await expect
      .poll(async () => {
        const { y, width, height } = (await image.boundingBox()) ?? { y: 0, width: 0, height: 0 }
        return [width > 700, height > 400, y + height < 800]
      })
      .toEqual([true, true, true])
  })

  test('says what an import has brought along and nobody has verified', async () => {
    const actionId = await say(carla, town.postId, 'From long ago')
    await change(actionId, { unverified: 1 })
    const { page } = await openPost()
    const comment = page.getByRole('article').filter({ hasText: 'From long ago' })
    await comment.getByText('not verified').waitFor()
    expect(await axeFindings(page)).toEqual([])
  })

  test('says where what it passes on is not what is here', async () => {
    const client = await town.server.as(anna)
    const post = { type: 'POST', visibility: 'P', content: { text: 'Poison' } } as const
    const { actionId: subject } = (await client.call(createAction, { body: post })).data
    const { data } = await client.call(createAction, { body: { type: 'REPOST', subject } })
    await change(data.actionId, { mismatched: 1 })
    const { page } = await openPost(data.actionId)
    await page.getByText('This was said about another text than the one that is here').waitFor()
    expect(await page.getByText('Poison').count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
  })

  test('that does not exist, and one that may not be seen, look alike', async () => {
    const { page } = await openPost(`a1~${'A'.repeat(43)}`)
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    expect(await axeFindings(page)).toEqual([])
  })
})

withChromium('a post, further', (launch) => {
  useTown(launch)

  test('is shown with the comment that the address names', async () => {
    const deep = await say(ben, await say(carla, await say(anna, town.postId, 'One'), 'Two'), 'Three')
    const deepest = await say(carla, deep, 'Four')
    const { page } = await openPost(deepest)
    const named = page.getByRole('article').filter({ hasText: 'Four' })
    await named.waitFor()
    await named.getByText('in answer to').waitFor()
    await expect
      .poll(() => named.evaluate((element) => element === element.ownerDocument.activeElement))
      .toBe(true)
  })

  test.each(['answer', 'news'])(
    'has a comment once at every moment when the %s of it comes first',
    async (first) => {
      const { page, context, faults } = await openTownHearing(pathOf(town.postId))
      const text = `There once, by the ${first}`
      const painted = await countPainted(page, 'article', text)
      const answer = first === 'news' ? await holdAnswer(context, town.server, anna) : undefined
      await page.getByRole('textbox', { name: 'Your comment' }).fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      const posted = page.getByRole('article', { name: text })
      await posted.waitFor()
      await page.getByRole('article', { name: 'Your comment' }).waitFor({ state: 'detached' })
      answer?.()
      await town.server.settle()
      // The same words again are another comment.
      await page.getByRole('textbox', { name: 'Your comment' }).fill(text)
      expect(await painted()).toEqual([1, 1])
      await page.getByRole('button', { name: 'Send' }).click()
      await expect.poll(() => posted.count()).toBe(2)
      await page.getByRole('article', { name: 'Your comment' }).waitFor({ state: 'detached' })
      expect(await painted()).toEqual([1, 2])
      expect(faults).toEqual([])
    },
  )

  test('of one’s own is deleted after a question, and gone at home', async () => {
    const client = await town.server.as(anna)
    const { data } = await client.call(createAction, {
      body: { type: 'POST', visibility: 'C', content: { text: 'Soon gone' } },
    })
    const { page } = await openPost(data.actionId)
    await page.getByRole('button', { name: 'More about the post of Anna Berg' }).click()
    await page.getByRole('menuitem', { name: 'Delivery' }).press('Enter')
    await page.getByRole('dialog', { name: 'Delivery' }).getByRole('paragraph').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More about the post of Anna Berg' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete this?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await page.getByRole('feed').getByRole('article').first().waitFor()
    expect(await page.getByText('Soon gone').count()).toBe(0)
  })

  test('keeps a comment that was not sent, and its length is told before', async () => {
    const { page } = await openPost()
    const field = page.getByRole('textbox', { name: 'Your comment' })
    await field.fill('😀'.repeat(10_001))
    await page.getByText('10001 of 10000 characters').waitFor()
    await field.fill('Not lost')
    await page.route('**/api/actions', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'E-INTERNAL', message: 'no' } } }),
    )
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The comment was not sent.').waitFor()
    await expect.poll(() => field.inputValue()).toBe('Not lost')
  })

  test('says what failed in the place of the comments, and goes on again', async () => {
    // What has failed is asked for again by itself when the bus opens.
    const { page, context } = await openTownHearing('/')
    await context.route('**/api/actions?*rootId*', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'E-INTERNAL', message: 'no' } } }),
    )
    await page
      .getByRole('link', { name: /^Comment/ })
      .first()
      .click()
    await page.getByText('The comments could not be loaded.').waitFor()
    await context.unroute('**/api/actions?*rootId*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The comments could not be loaded.').waitFor({ state: 'detached' })
  })
})
