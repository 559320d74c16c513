import { describe, expect, test } from 'vitest'
import { actionLab } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'

const post = { type: 'POST' as const, content: { text: 'Hello' } }
const startSecs = 1_767_225_600
const yearSecs = 365 * 86_400

const refusedAt = (path: string) =>
  expect.objectContaining({
    code: 'E-VALIDATION',
    details: { issues: [expect.objectContaining({ path })] },
  })

eachDialect('an action', (open) => {
  const openLab = actionLab(open)

  async function start() {
    const lab = await openLab()
    return { ...lab, alice: await lab.makeTenant('alice.example.com') }
  }

  describe('is refused when it', () => {
    test.each([
      ['is over already', { expiresAt: startSecs }, '/expiresAt'],
      ['is over already, as a draft', { expiresAt: startSecs - 1, draft: true }, '/expiresAt'],
      [
        'would be over when it is published',
        { expiresAt: startSecs + 5, publishAt: startSecs + 5 },
        '/publishAt',
      ],
      ['is put off by more than ten years', { publishAt: startSecs + 10 * yearSecs + 1 }, '/publishAt'],
    ])('%s', async (_, members, path) => {
      const { alice, sent } = await start()
      await expect(alice.create({ ...post, ...members })).rejects.toEqual(refusedAt(path))
      expect(await alice.list({ status: ['A', 'R', 'S'] })).toEqual([])
      expect(sent).toEqual([])
    })

    test('is a draft that has expired, or would be published after it expires', async () => {
      const { alice, tick } = await start()
      const { actionId } = await alice.create({ ...post, draft: true, expiresAt: startSecs + 10 })
      await expect(alice.publish(actionId, startSecs + 10)).rejects.toEqual(refusedAt('/publishAt'))
      await expect(alice.publish(actionId, startSecs + 11 * yearSecs)).rejects.toEqual(
        refusedAt('/publishAt'),
      )
      tick(10)
      await expect(alice.publish(actionId)).rejects.toEqual(refusedAt('/expiresAt'))
      await expect(alice.update(actionId, { flags: 'x' })).rejects.toEqual(refusedAt('/expiresAt'))
      expect(await alice.get(actionId)).toMatchObject({ status: 'R' })
    })

    test('names an identity that does not exist, in any member', async () => {
      const { alice, unknown, unreachable } = await start()
      unknown.add('nobody.example.org')
      unreachable.add('far.example.org')
      const audience = Array.from({ length: 25 }, (_, at) => `peer${at}.example.org`)
      const message = { type: 'MSG' as const, content: { text: 'Hello' } }
      const failure = expect.objectContaining({ code: 'E-PROFILE-NOTFOUND' })
      await expect(
        alice.create({ ...message, audience: [...audience, 'nobody.example.org'] }),
      ).rejects.toEqual(failure)
      expect(await alice.create({ ...message, audience: [...audience, 'far.example.org'] })).toMatchObject({
        status: 'A',
      })
    })
  })

  test('tells its issuer when it is to be published', async () => {
    const { alice } = await start()
    const publishAt = startSecs + 60
    const made = await alice.create({ ...post, publishAt })
    expect(made).toMatchObject({ status: 'S', publishAt })
    expect(await alice.get(made.actionId)).toMatchObject({ status: 'S', publishAt })
    expect(await alice.list({ status: ['S'] })).toMatchObject([{ publishAt }])
    await alice.cancel(made.actionId)
    expect(await alice.get(made.actionId)).not.toHaveProperty('publishAt')
    await alice.publish(made.actionId)
    expect(await alice.get(made.actionId)).not.toHaveProperty('publishAt')
  })

  describe('of the longest text', () => {
    const longest = (character: string) => ({ ...post, content: { text: character.repeat(50_000) } })

    test.each(['a', 'é', '\n', '日'])('is published in characters like %j', async (character) => {
      const { alice } = await start()
      const { actionId } = await alice.create(longest(character))
      expect((await alice.get(actionId)).content).toEqual(longest(character).content)
    })

    test('is refused when no inbox would accept its token, draft or not, naming the member', async () => {
      const { alice } = await start()
      const failure = expect.objectContaining({
        code: 'E-TOOLARGE',
        details: {
          issues: [{ path: '/content', message: expect.stringContaining('262144 is the most') }],
        },
      })
      await expect(alice.create(longest('😀'))).rejects.toEqual(failure)
      await expect(alice.create({ ...longest('😀'), draft: true })).rejects.toEqual(failure)
      const { actionId } = await alice.create({ ...post, draft: true })
      await expect(alice.update(actionId, { content: longest('😀').content })).rejects.toEqual(failure)
    })

    test('is published in any script as long as its token fits', async () => {
      const { alice } = await start()
      const content = { text: '😀'.repeat(48_000) }
      const { actionId } = await alice.create({ ...post, content })
      expect((await alice.get(actionId)).content).toEqual(content)
    })
  })
})
