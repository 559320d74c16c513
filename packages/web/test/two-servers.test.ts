import { createReference, type IdTag } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withChromium } from '../../server/test/harness/browser.ts'
import { linkIn, readMails } from '../../server/test/harness/mail-files.ts'
import { TestClock } from '../../server/test/harness/test-clock.ts'
import { TestNetwork } from '../../server/test/harness/test-network.ts'
import { testPassword } from '../../server/test/harness/test-server.ts'
import { webBuild } from './harness/open-app.ts'
import { endCast, openCast } from './story/cast.ts'
import type { Cast, Stage } from './story/stage.ts'
import { ben, story } from './story/story.ts'

const annas = { idTag: 'anna.localhost', password: testPassword }
const street = { idTag: 'street.localhost', password: testPassword }
const streetAt = 1
const tickMs = 100

withChromium('two people on two servers', (launch) => {
  let network: TestNetwork
  let cast: Cast
  let stage: Stage
  let ticking: ReturnType<typeof setInterval>
  let broken: string | undefined
  beforeAll(async () => {
    const browser: Browser = await launch()
    // What is sorted by time is told apart by it.
    network = new TestNetwork(new TestClock(Date.now()))
    ticking = setInterval(() => network.clock.advance(tickMs), tickMs)
    for (const name of ['anna', 'street']) await network.add(name, { webBuild })
    network.announce(streetAt, ben.idTag as IdTag)
    stage = stageOf(network)
    cast = await openCast(browser)
  })
  afterAll(async () => {
    clearInterval(ticking)
    if (cast) await endCast(cast)
    await network?.[Symbol.asyncDispose]()
  })

  test.for(story)('$title', async ({ title, tell }, { skip }) => {
    skip(broken !== undefined, `begins where “${broken}” would have ended`)
    broken = title
    await tell(cast, stage)
    broken = undefined
  })

  test('all of it without a reload, a foreign request, or a fault', () => {
    const { anna, ben: phone, bensLaptop } = cast
    // The app, the page for signing in, the app; Ben has followed an invitation and a mail before.
    expect([anna.loads, phone.loads, bensLaptop.loads]).toEqual([3, 5, 3])
    for (const { name, faults } of Object.values(cast)) expect([name, faults]).toEqual([name, []])
  })
})

function stageOf(network: TestNetwork): Stage {
  const home = () => network.server(streetAt)
  return {
    annas,
    street,
    urlOf: (idTag) => network.server(idTag.endsWith(street.idTag) ? streetAt : 0).urlOf(idTag),
    async invite() {
      const owner = await home().as(street.idTag)
      const { data } = await owner.call(createReference, { body: { type: 'invite' } })
      return `${home().urlOf(street.idTag)}/register#token=${data.refId}`
    },
    async linkMailedTo(email) {
      await home().settle()
      const mails = await readMails(home().running.services.config.mail.directory)
      return linkIn(mails.findLast(({ to }) => to === email) ?? { text: '' })
    },
    takeStreetDown: () => network.takeDown(streetAt),
    async bringStreetBack() {
      await network.bringBack(streetAt)
      await network.pass(60_000)
    },
  }
}
