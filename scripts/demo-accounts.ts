/** The life of an account in front of the reader: an invitation, a mail, a password, a passkey, a second device. Uses a
 * real browser where there is one. Exits with 0 only if every step held. */
import { strictEqual } from 'node:assert/strict'
import { chromiumPath } from '../packages/server/test/harness/chromium.ts'
import { linkIn } from '../packages/server/test/harness/mail-files.ts'
import { type Guest, type GuestAddress, withoutToken } from './demo-guest.ts'
import { chromiumGuest } from './demo-guest-chromium.ts'
import { httpGuest } from './demo-guest-http.ts'
import { awaitMail } from './demo-mail.ts'
import { perform, type Server, signIn, step } from './demo-stage.ts'

async function invite(home: Server): Promise<string> {
  const token = await signIn(home)
  const json = { type: 'invite', description: 'For a guest' }
  const { data, status } = await step('the owner makes an invitation', 'POST', `${home.url}/api/refs`, {
    token,
    json,
  })
  strictEqual(status, 201)
  return `${home.url}/register#token=${String(data.refId)}`
}

async function tell(home: Server, guest: Guest, { email }: GuestAddress): Promise<void> {
  const invitation = await invite(home)
  console.log(`the owner gives it to a guest, who uses ${guest.means}\n    ${withoutToken(invitation)}`)
  await guest.register(invitation)
  const welcome = await awaitMail(home, email, 'Welcome: choose your password')
  await guest.choosePassword(linkIn(welcome))
  await guest.signIn()
  await guest.addPasskey()
  await awaitMail(home, email, 'A passkey was added')
  await guest.signInWithPasskey()
  await guest.signInElsewhere()
}

await perform(async (start) => {
  const home = await start({ idTag: 'home.localhost' })
  const idTag = 'guest.home.localhost'
  const address = {
    idTag,
    email: 'guest@example.org',
    password: 'a password of the guest',
    url: home.url.replace(home.idTag, idTag),
    homeUrl: home.url,
  }
  const guest = chromiumPath === undefined ? httpGuest(address) : await chromiumGuest(chromiumPath, address)
  try {
    await tell(home, guest, address)
  } finally {
    await guest.leave()
  }
})
