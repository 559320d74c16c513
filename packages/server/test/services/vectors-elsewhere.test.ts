import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { skipSuite } from '#harness/skip-suite.ts'

const python = process.env.TEST_PYTHON
const tokens = 'tokens/action-tokens.json'
const answers = 'discovery/id-tag-answers.json'
const outcomes = 'actions/outcomes.json'
const vectors = resolve(import.meta.dirname, '../../../../vectors')

if (!python)
  skipSuite('the vectors in Python', 'TEST_PYTHON is a Python that has the packages cryptography and idna')
else
  describe('the vectors in Python', () => {
    const run = (folder: string) => {
      const { status, stdout, stderr } = spawnSync(python, [join(vectors, 'run.py'), folder], {
        encoding: 'utf8',
      })
      return { status, output: stdout + stderr }
    }

    test('agree with what the pages say, all of them', async () => {
      const { status, output } = run(vectors)
      expect({ status, output }).toMatchObject({ status: 0 })
      const lines = [...output.matchAll(/^(.+\.json): (\d+) cases/gm)]
      const ran = new Map(lines.map(([, file, cases]) => [file, Number(cases)]))
      const files = (await readdir(vectors, { recursive: true })).filter((it) => it.endsWith('.json'))
      expect([...ran.keys()].sort()).toEqual(files.sort())
      expect(Math.min(...ran.values())).toBeGreaterThan(0)
    })

    test.each<[string, string, (text: string) => string, RegExp]>([
      ['a signature is another', tokens, spoil('a public post'), /a public post: expected .*bad-signature/],
      ['a token has a second fault', tokens, spoil('signed with a retired key after its end'), /: faults: /],
      [
        'an answer has more than is known',
        answers,
        (it) => it.replace('"status":', '"gzip": 1, "status":'),
        /gzip/,
      ],
      ['an outcome is not told', outcomes, (it) => it.replace(/,\s+"status": "A"/, ''), /: status: /],
      ['a list is empty', outcomes, (it) => it.replace(/"tokens": \[[^\]]+\]/, '"tokens": []'), /empty/],
      ['a file is not known', 'more.json', () => '{}', /more\.json: is not known/],
    ])('disagree where %s', async (_, file, change, complaint) => {
      const folder = await mkdtemp(join(tmpdir(), 'vectors-'))
      try {
        await cp(vectors, folder, { recursive: true })
        const path = join(folder, file)
        const before = existsSync(path) ? await readFile(path, 'utf8') : ''
        const after = change(before)
        expect(after).not.toBe(before)
        await writeFile(path, after)
        const { status, output } = run(folder)
        expect(status).toBe(1)
        expect(output).toMatch(complaint)
        expect(output.split('\n').filter((line) => !/^(\S+: \d+ cases.*)?$/.test(line))).toHaveLength(1)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  })

/** Makes the signature of the token of this name another one. */
function spoil(name: string) {
  return (text: string) => {
    const { valid, invalid } = JSON.parse(text)
    const { token } = [...valid, ...invalid].find((it: { name: string }) => it.name === name)
    return text.replace(token, withAnotherSignature(token))
  }
}

/** The first character of the signature is another one. */
function withAnotherSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
