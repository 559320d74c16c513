import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { skipSuite } from '#harness/skip-suite.ts'

const python = process.env.TEST_PYTHON
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

    test('disagree where a signature is another, and where a file is not known', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'vectors-'))
      try {
        await cp(vectors, folder, { recursive: true })
        await writeFile(join(folder, 'more.json'), '{}')
        const path = join(folder, 'tokens/action-tokens.json')
        const { name, token } = JSON.parse(await readFile(path, 'utf8')).valid[0]
        await writeFile(path, (await readFile(path, 'utf8')).replace(token, withAnotherSignature(token)))
        const { status, output } = run(folder)
        expect(status).toBe(1)
        expect(output).toContain(`tokens/action-tokens.json: ${name}: expected`)
        expect(output).toContain("got ('E-AUTH-UNAUTH', 'bad-signature')")
        expect(output).toContain('more.json: is not known')
        expect(output.match(/: expected /g)).toHaveLength(1)
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  })

/** The first character of the signature is another one. */
function withAnotherSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
