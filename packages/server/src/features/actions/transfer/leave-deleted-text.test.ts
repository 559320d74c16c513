import { expect, test } from 'vitest'
import { actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { leaveDeletedText } from './leave-deleted-text.ts'

eachDialect('the row of an action that leaves', (open) => {
  const openLab = actionLab(open)
  const said = { content: '{"text":"a"}', attachments: '["b1~a"]', x: '{"note":"a"}', flags: 'a' }
  const blank = { content: null, attachments: null, x: null, flags: null }

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const tokenOf = (members: object) => lab.forge(alice, { type: 'CONN', ...members })
    return { tokenOf }
  }

  test('says nothing once the action is deleted, and is whole before', async () => {
    const row = { action_id: 'a1~a', token: null, nonce: null, issued_at: 5, ...said }
    expect(leaveDeletedText({ ...row, status: 'D' })).toEqual({ ...row, status: 'D', ...blank })
    for (const status of ['A', 'C', 'R', 'S'])
      expect(leaveDeletedText({ ...row, status })).toEqual({ ...row, status })
  })

  test('keeps the text of a draft that could not be published', () => {
    const row = { status: 'D', ...said, x: '{"note":"a","refused":"E-STATE"}', token: null }
    expect(leaveDeletedText(row)).toEqual(row)
  })

  test.each(['"refused"', '5', 'null', '[]'])('is taken whatever stands in it: %s', (x) => {
    const row = { status: 'D', ...said, x, token: 'no token', nonce: 'n' }
    expect(leaveDeletedText(row)).toEqual({ ...row, ...blank, token: null, nonce: null })
  })

  test('takes a token along that may still have to be sent, unless it says text', async () => {
    const { tokenOf } = await start()
    const left = async (members: object) => {
      const row = { status: 'D', ...blank, nonce: 'n', token: await tokenOf(members) }
      return leaveDeletedText(row).token === row.token
    }
    expect(await left({ subType: 'DEL' })).toBe(true)
    expect(await left({ subType: 'DEL', x: { withdraws: 'a1~a' } })).toBe(true)
    expect(await left({ x: { note: 'a' } })).toBe(false)
    expect(await left({ content: { message: 'a' } })).toBe(false)
    expect(await left({ subject: `a1~${'A'.repeat(43)}` })).toBe(true)
    expect(await left({ type: 'FLLW' })).toBe(true)
    expect(await left({ type: 'FLLW', subject: 'a' })).toBe(false)
    expect(await left({ attachments: [`b1~${'A'.repeat(43)}`] })).toBe(false)
  })
})
