/** Two people on two servers, each in front of a browser of their own: the story that `packages/web` is tested with, told with a
 * picture of each step in a page that is written to the folder given, or to a temporary one. Exits with 0 only if every step held. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromiumPath, launchChromium } from '../packages/server/test/harness/chromium.ts'
import { CuttableLink } from '../packages/server/test/harness/cuttable-link.ts'
import { linkIn } from '../packages/server/test/harness/mail-files.ts'
import { endCast, openCast } from '../packages/web/test/story/cast.ts'
import type { Cast, Stage } from '../packages/web/test/story/stage.ts'
import { ben, story } from '../packages/web/test/story/story.ts'
import { awaitMail } from './demo-mail.ts'
import { password, perform, type Server, type Start, signIn, step, stop } from './demo-stage.ts'
import { Report } from './demo-web-report.ts'

const annas = { idTag: 'anna.localhost', password }
const street = { idTag: 'street.localhost', password }

/** The servers as processes of their own; that of the street is another one after it was down. */
async function openStage(start: Start, toAnnas: CuttableLink, toStreet: CuttableLink): Promise<Stage> {
  const urlOf = (idTag: string) =>
    `http://${idTag}:${(idTag.endsWith(street.idTag) ? toStreet : toAnnas).port}`
  const peers = [annas, street, ben].map(({ idTag }) => `${idTag}=${urlOf(idTag)}`).join()
  await start({ idTag: annas.idTag, link: toAnnas, peers })
  const startStreet = () => start({ idTag: street.idTag, link: toStreet, peers })
  let present: Server = await startStreet()
  return {
    annas,
    street,
    urlOf,
    async invite() {
      const token = await signIn(present)
      const json = { type: 'invite', description: 'For Ben' }
      const { data } = await step('who makes an invitation', 'POST', `${present.url}/api/refs`, {
        token,
        json,
      })
      return `${present.url}/register#token=${String(data.refId)}`
    },
    linkMailedTo: async (email) => linkIn(await awaitMail(present, email, /.*/)),
    takeStreetDown: () => stop(present),
    async bringStreetBack() {
      present = await startStreet()
    },
  }
}

async function tell(cast: Cast, stage: Stage, report: Report): Promise<void> {
  for (const { title, tell } of story) {
    const startedAt = performance.now()
    try {
      const shown = await tell(cast, stage)
      const tookMs = performance.now() - startedAt
      console.log(
        `${title}\n    seen by ${shown.map(({ name }) => name).join(', ')} after ${tookMs.toFixed(0)} ms`,
      )
      await report.add(title, shown)
    } catch (error) {
      await report.add(`Here it ended: ${title}`, Object.values(cast))
      throw error
    }
  }
}

await perform(async (start) => {
  ok(chromiumPath, 'Chromium is needed: install it, or name its path in TEST_CHROMIUM')
  const [given] = process.argv.slice(2)
  const folder = given === undefined ? await mkdtemp(join(tmpdir(), 'kith-demo-web-')) : resolve(given)
  await mkdir(folder, { recursive: true })
  await using toAnnas = await CuttableLink.open()
  await using toStreet = await CuttableLink.open()
  const stage = await openStage(start, toAnnas, toStreet)
  const browser = await launchChromium(chromiumPath)
  const report = new Report(folder)
  try {
    const cast = await openCast(browser)
    try {
      await tell(cast, stage, report)
    } finally {
      console.log(`\nThe pictures\n    ${await report.write()}`)
    }
    for (const { name, faults } of Object.values(cast))
      deepStrictEqual(faults, [], `what ${name} saw keeps to its policy, its origin and its word`)
    await endCast(cast)
  } finally {
    await browser.close()
  }
})
