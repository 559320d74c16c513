import { ok } from 'node:assert/strict'
import { join } from 'node:path'
import { type ReadMail, readMails } from '../packages/server/test/harness/mail-files.ts'
import { pollMs } from '../packages/server/test/harness/patience.ts'
import type { Server } from './demo-stage.ts'

/** The newest mail to an address with this subject, once it is there. */
export async function awaitMail(
  { dataDir }: Server,
  email: string,
  subject: string | RegExp,
): Promise<ReadMail> {
  const startedAt = performance.now()
  const directory = join(dataDir, 'mail')
  const isMeant = (found: string) => (typeof subject === 'string' ? found === subject : subject.test(found))
  for (;;) {
    const mail = (await readMails(directory)).findLast((one) => one.to === email && isMeant(one.subject))
    const tookMs = performance.now() - startedAt
    if (mail) {
      console.log(
        `a mail for ${email}: ${mail.subject}\n    ${directory}/*.eml\n    there in ${tookMs.toFixed(0)} ms`,
      )
      return mail
    }
    ok(tookMs < pollMs, `no mail “${subject}” within ${pollMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
