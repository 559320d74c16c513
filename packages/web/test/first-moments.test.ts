import { uploadFile } from '@kith/client'
import { createAction, listConversations } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { desk, openApp } from './harness/open-app.ts'
import { anna, ben, carla, type SmallTown, startSmallTown } from './harness/small-town.ts'

withChromium('in the first moments of a page', (launch) => {
  let town: SmallTown
  beforeAll(async () => {
    town = await startSmallTown()
  })
  afterAll(async () => {
    await town?.server.stop()
  })

  /** The app at a path, whose bus opens when it is told to. */
  async function openDeaf(path: string) {
    const opened = await openApp(await launch(), town.server, {
      idTag: anna,
      path: '/search',
      viewport: desk,
    })
    const isToOpen = Promise.withResolvers<void>()
    await opened.page.routeWebSocket(/\/ws\//, async (socket) => {
      await isToOpen.promise
      socket.connectToServer()
    })
    await opened.go(path)
    return { ...opened, openBus: () => isToOpen.resolve() }
  }
  const as = async (idTag: string) => await town.server.as(idTag)

  test('a message that comes before the bus is open is shown, and in the list of conversations', async () => {
    const { page, openBus, faults } = await openDeaf(`/messages/${ben}`)
    // The list says the last message alone.
    await page.getByText('Yes, with the children.').waitFor()
    await page.getByRole('link', { name: /Carla Lindqvist/ }).waitFor()
    const unreadOfBen = async () => {
      const { data } = await (await as(anna)).call(listConversations)
      return data.find(({ participants }) => participants.some(({ idTag }) => idTag === ben))?.unread
    }
    await expect.poll(unreadOfBen).toBe(0)
    const body = { type: 'MSG', audienceTag: anna } as const
    await (await as(carla)).call(createAction, { body: { ...body, content: { text: 'And the scores?' } } })
    await (await as(ben)).call(createAction, { body: { ...body, content: { text: 'Bring a knife.' } } })
    await (await as(ben)).call(createAction, { body: { ...body, content: { text: 'And a plate.' } } })
    await town.server.settle()
    openBus()
    await page.getByText('Bring a knife.').waitFor()
    await page.getByRole('link', { name: /Carla Lindqvist.*And the scores\?/ }).waitFor()
    expect(faults).toEqual([])
  })

  test('a comment that comes before the bus is open is shown below the post', async () => {
    const { page, openBus, faults } = await openDeaf(`/posts/${encodeURIComponent(town.postId)}`)
    await page.getByText('The second one!').waitFor()
    const body = { type: 'CMNT', parentId: town.postId, content: { text: 'And the last one.' } } as const
    await (await as(carla)).call(createAction, { body })
    await town.server.settle()
    openBus()
    await page.getByText('And the last one.').waitFor()
    expect(faults).toEqual([])
  })

  test('a follower who comes before the bus is open is among the notifications', async () => {
    const { page, openBus, faults } = await openDeaf('/notifications')
    await page
      .getByRole('link', { name: /Ben Okafor/ })
      .first()
      .waitFor()
    await (await as(carla)).call(createAction, { body: { type: 'FLLW', audienceTag: anna } })
    await town.server.settle()
    openBus()
    await page.getByRole('link', { name: 'Carla Lindqvist follows you' }).waitFor()
    expect(faults).toEqual([])
  })

  test('a file that comes before the bus is open is in the list', async () => {
    const { page, openBus, faults } = await openDeaf('/files')
    await page.getByText('shopping.txt').waitFor()
    await uploadFile(await as(anna), new Blob(['Plates'], { type: 'text/plain' }), { fileName: 'plates.txt' })
    openBus()
    await page.getByText('plates.txt').waitFor()
    expect(faults).toEqual([])
  })

  test('what comes while a list is asked for the first time is in it', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, {
      idTag: anna,
      path: '/manifest.webmanifest',
      viewport: desk,
    })
    const [isAnswered, isToCome] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/api/conversations*', async (route) => {
      const { pathname, search } = new URL(route.request().url())
      const { authorization = '' } = route.request().headers()
      const answer = await town.server.request(anna, pathname + search, { headers: { authorization } })
      isAnswered.resolve()
      await isToCome.promise
      await route.fulfill({ status: answer.status, json: await answer.json() })
    })
    const opened = page.waitForEvent('websocket').then(async (socket) => {
      await socket.waitForEvent('framereceived')
      return socket
    })
    const [socket] = await Promise.all([opened, isAnswered.promise, go('/messages')])
    const isNews = ({ payload }: { readonly payload: string | Buffer }) =>
      String(payload).includes('CONVERSATION')
    const body = { type: 'MSG', audienceTag: anna, content: { text: 'Just in time.' } } as const
    const carlas = await as(carla)
    await Promise.all([socket.waitForEvent('framereceived', isNews), carlas.call(createAction, { body })])
    isToCome.resolve()
    await page.getByRole('link', { name: /Carla Lindqvist.*Just in time\./ }).waitFor()
    expect(faults).toEqual([])
  })

  test('the first script asks nothing where the app was there before it', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, { idTag: anna, path: '/search' })
    const isToCome = Promise.withResolvers<void>()
    await page.route('**/assets/web/begin-*', async (route) => {
      await isToCome.promise
      await route.continue()
    })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const loaded = go('/')
    await page.getByRole('article').first().waitFor()
    isToCome.resolve()
    await loaded
    await page.evaluate(`fetch('/api/server-info').then((answer) => answer.text())`)
    await expect.poll(() => asked).toContain('/api/server-info')
    expect(asked.filter((path) => path === '/api/auth/login-token')).toHaveLength(1)
    await page.waitForLoadState('networkidle')
    expect(faults).toEqual([])
  })

  test('a press on Download waits for what it needs', async () => {
    const { page, go, faults } = await openApp(await launch(), town.server, { idTag: anna, path: '/search' })
    const isToCome = Promise.withResolvers<void>()
    await page.route('**/api/auth/access-token*', async (route) => {
      await isToCome.promise
      await route.continue()
    })
    await go('/files')
    await page.getByRole('button', { name: 'Actions for shopping.txt' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download' }).click()
    isToCome.resolve()
    expect((await saved).suggestedFilename()).toBe('shopping.txt')
    expect(faults).toEqual([])
  })
})
