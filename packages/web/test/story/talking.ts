import type { Device } from './device.ts'
import { type Step, step } from './stage.ts'

const undoMs = 10_000

/** What the button of the composer says depends on whom it is for. */
export async function sharesPost(person: Device, text: string): Promise<void> {
  await person.page.getByRole('link', { name: 'New', exact: true }).first().click()
  await person.fills('Text', text)
  await person.choosesFrom('Who can read it', 'Connections')
}

export async function letsPostGo(person: Device): Promise<void> {
  await person.presses('Share with 1 connection')
  await person.sees('Your post leaves soon')
  await person.waits(undoMs)
}

export const talking: readonly Step[] = [
  step('Ben writes a post with a photo, and describes it', async ({ ben }) => {
    await sharesPost(ben, 'The plums are ripe, come and pick some.')
    await ben.choosesPhoto('Pictures', 'plums.jpg', 280)
    await ben.fills('Description of plums.jpg', 'A tree full of dark plums')
    await ben.sees('Saved as a draft')
    return [ben]
  }),

  step('After ten seconds to think it over the post leaves', async ({ ben }) => {
    await letsPostGo(ben)
    await ben.sees('Your post is shared.')
    await ben.post(/The plums are ripe/).waitFor()
    return [ben]
  }),

  step('Anna is told of a new post, and sees it with its description', async ({ anna }) => {
    await anna.goesTo('Home')
    await anna.post(/Ben Okafor, The plums are ripe/).waitFor()
    await anna.page.getByRole('button', { name: 'Picture 1 of 1: A tree full of dark plums' }).click()
    await anna.page.getByRole('dialog').getByRole('img', { name: 'A tree full of dark plums' }).waitFor()
    return [anna]
  }),

  step('She loves it, and Ben sees that at once', async ({ anna, ben }) => {
    await anna.page.keyboard.press('Escape')
    await anna.presses('React')
    await anna.presses('Love')
    await ben.page.getByRole('button', { name: 'React, 1 reaction' }).waitFor()
    return [anna, ben]
  }),

  step('She comments; he answers; both see it as it comes', async ({ anna, ben }) => {
    await anna
      .post(/The plums are ripe/)
      .getByRole('link', { name: 'Comment', exact: true })
      .click()
    await ben
      .post(/The plums are ripe/)
      .getByRole('link', { name: /^Comment/ })
      .click()
    await anna.fills('Your comment', 'Gladly. Is Saturday good?')
    await anna.presses('Send')
    await ben.post(/Anna Berg, Gladly/).waitFor()
    await ben.presses('Answer the comment of Anna Berg')
    await ben.fills('Your answer to Anna Berg', 'From ten on. Bring a basket.')
    await ben
      .post(/Anna Berg, Gladly/)
      .getByRole('button', { name: 'Send' })
      .click()
    await anna.post(/Ben Okafor, From ten on/).waitFor()
    return [anna, ben]
  }),

  step('She writes him a message', async ({ anna, ben }) => {
    await anna.follows(/^Ben Okafor/)
    await anna.seesScreen('Ben Okafor')
    await anna.follows('Message')
    await anna.fills('Message', 'Shall I bring cake?')
    await anna.presses('Send')
    await anna.sees('Sent')
    await ben.page.getByRole('link', { name: 'Messages (1 new)' }).waitFor()
    return [anna, ben]
  }),

  step('He reads and answers it, and both have their ticks', async ({ anna, ben }) => {
    await ben.goesTo('Messages')
    await ben.follows(/Anna Berg/)
    await ben.sees('Shall I bring cake?')
    await anna.sees('Seen')
    await ben.fills('Message', 'Always.')
    await ben.presses('Send')
    await anna.sees('Always.')
    await ben.sees('Seen')
    await ben.follows('All conversations')
    return [anna, ben]
  }),
]
