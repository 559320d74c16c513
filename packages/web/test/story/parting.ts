import { ben as account } from './arriving.ts'
import type { Device } from './device.ts'
import { type Step, step } from './stage.ts'
import { letsPostGo, sharesPost } from './talking.ts'

// By docs/protocol/delivery.md, Retries: after 10 s and after 20 s more.
const retriedWithinMs = 120_000

const blocking: readonly Step[] = [
  step('Anna blocks Ben: he is gone from everywhere', async ({ anna }) => {
    await anna.goesTo('Home')
    await anna.presses('More about the post of Ben Okafor')
    await anna.page.getByRole('menuitem', { name: 'Block Ben Okafor' }).click()
    await anna.page.getByRole('dialog').getByRole('button', { name: 'Block Ben Okafor' }).click()
    await anna.sees('Ben Okafor is blocked.')
    await anna.seesNoMore(anna.post(/Ben Okafor/))
    await anna.goesTo('Messages')
    await anna.sees('No conversations yet')
    await anna.goesTo('People')
    await anna.sees('No connections yet')
    return [anna]
  }),

  step('What he writes does not reach her', async ({ anna, ben }) => {
    await ben.goesTo('Messages')
    await ben.follows(/Anna Berg/)
    await ben.fills('Message', 'Are you there?')
    await ben.presses('Send')
    await ben.page
      .getByText(/^(Sent|Not delivered)$/)
      .first()
      .waitFor()
    await ben.follows('All conversations')
    await anna.goesTo('Notifications')
    await anna.goesTo('Messages')
    await anna.sees('No conversations yet')
    return [anna, ben]
  }),

  step('She thinks better of it', async ({ anna }) => {
    await anna.goesTo('People')
    await anna.follows('Blocked')
    await anna.follows(/Ben Okafor/)
    await anna.presses('Unblock')
    await anna.sees('Ben Okafor is no longer blocked.')
    await anna.goesTo('Home')
    await anna.post(/The plums are ripe/).waitFor()
    return [anna]
  }),
]

const losing: readonly Step[] = [
  step('The server of the street goes down: Ben is told, and his post waits', async ({ ben }, stage) => {
    await sharesPost(ben, 'The basket stands at the gate.')
    await ben.sees('Saved as a draft')
    await stage.takeStreetDown()
    await ben.sees(/^No connection. What you see was last updated/)
    await letsPostGo(ben)
    await ben.sees('Your post waits for the server. It leaves when it can.')
    return [ben]
  }),

  step('What Anna shares meanwhile waits for his server', async ({ anna }) => {
    await sharesPost(anna, 'I am bringing two cakes.')
    await letsPostGo(anna)
    await anna.sees('Your post is shared.')
    await anna.presses('More about the post of Anna Berg')
    await anna.page.getByRole('menuitem', { name: 'Delivery' }).click()
    await anna.sees(/not reached yet, tried again/)
    return [anna]
  }),

  step('A minute later it is back, and everything is there, once', async ({ anna, ben }, stage) => {
    await anna.page.keyboard.press('Escape')
    await stage.bringStreetBack()
    await ben.waits(30_000)
    await ben.sees('Your post is shared.')
    for (const text of [/I am bringing two cakes/, /The basket stands at the gate/])
      for (const person of [anna, ben]) await showsNew(person, text)
    return [anna, ben]
  }),
]

const ending: readonly Step[] = [
  step('Ben deletes his first post, and it is gone on both servers', async ({ anna, ben }) => {
    const post = ben.post(/The plums are ripe/)
    await post.getByRole('button', { name: /^More about/ }).click()
    await ben.page.getByRole('menuitem', { name: 'Delete' }).click()
    await ben.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await ben.sees('It was deleted.')
    await ben.seesNoMore(post)
    await anna.seesNoMore(anna.post(/The plums are ripe/))
    return [anna, ben]
  }),

  step('Ben signs in on his laptop as well', async ({ bensLaptop }, { urlOf }) => {
    await bensLaptop.opens(`${urlOf(account.idTag)}/settings`)
    await bensLaptop.fills('Password', account.password)
    await bensLaptop.presses('Sign in')
    await bensLaptop.seesScreen('Settings')
    return [bensLaptop]
  }),

  step('and ends that session from his phone', async ({ ben, bensLaptop }) => {
    await ben.follows('You')
    await ben.follows(/^Devices/)
    await ben.presses('Sign out all other devices')
    await ben.page.getByRole('dialog').getByRole('button', { name: 'Sign out all other devices' }).click()
    await ben.sees('All other devices are signed out.')
    await bensLaptop.page.getByRole('dialog', { name: 'Sign in again' }).waitFor()
    return [ben, bensLaptop]
  }),

  step('The laptop goes on where it was, once it knows him again', async ({ bensLaptop }) => {
    const dialog = bensLaptop.page.getByRole('dialog', { name: 'Sign in again' })
    await bensLaptop.fills('Password', account.password)
    await bensLaptop.presses('Sign in')
    await bensLaptop.seesNoMore(dialog)
    await bensLaptop.seesNoMore('No connection. What you see may be out of date.')
    await bensLaptop.seesScreen('Settings')
    return [bensLaptop]
  }),
]

/** What came waits behind a button where one could lose one's place. Twice in the list would be once too often. */
async function showsNew(person: Device, text: RegExp): Promise<void> {
  const news = person.page.getByRole('button', { name: /^\d+ new posts?$/ })
  const post = person.post(text)
  // What is offered may be another one's, and this one comes after it.
  while (!(await post.isVisible())) {
    await post.or(news).first().waitFor({ timeout: retriedWithinMs })
    // It goes by itself where there is no place to lose.
    if (await news.isVisible()) await news.click({ timeout: 1_000 }).catch(() => undefined)
  }
}

export const parting: readonly Step[] = [...blocking, ...losing, ...ending]
