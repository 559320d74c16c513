import { fileURLToPath } from 'node:url'
import { createClient } from '@kith/client'
import { slimContracts } from '@kith/client/build'
import { allContracts, type Contract, type RequestParts, settingDefinitions } from '@kith/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bundleTextForBrowser } from '#harness/browser-bundle.ts'
import { runsOf } from '#harness/property-runs.ts'

const bundle = (text: string) => bundleTextForBrowser(text, { plugins: [slimContracts()] })
const bundleOf = (...names: readonly string[]) =>
  bundle(`export { ${names.join(', ')} } from '@kith/protocol'`)

async function exportsOf(code: string): Promise<Record<string, unknown>> {
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** What the client of a contract sends, and what it makes of the answer. */
async function requestBy(contract: Contract, { body, ...parts }: RequestParts, answer: () => Response) {
  const sent: unknown[] = []
  const client = createClient({
    baseUrl: 'https://alice.example.com',
    token: 'token',
    fetch: async (url, init) => {
      sent.push(url, init)
      return answer()
    },
  })
  const isUpload = contract.body?.kind === 'bytes'
  const call = isUpload
    ? client.upload(contract as never, { ...parts, body: new Uint8Array(3) } as never)
    : client.call(contract, { ...parts, body } as never)
  const { data } = (await call) as { data: unknown }
  return { sent, data: data instanceof Response ? await data.text() : data }
}

/** Members with the names of a schema's properties, some of them lists of words, and one that the schema does not know. */
function membersOf(schema: object | undefined): fc.Arbitrary<object> {
  const names = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
  const value = fc.oneof(
    fc.array(fc.string()),
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.date({ noInvalidDate: true }),
  )
  const members = Object.fromEntries([...names, 'unknown'].map((name) => [name, value]))
  return fc.record(members, { requiredKeys: [] })
}

function partsOf({ path, query, headers, body }: Contract): fc.Arbitrary<RequestParts> {
  const names = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => name)
  const segment = fc
    .string({ minLength: 1 })
    .filter((text) => text !== '.' && text !== '..' && !text.includes('/'))
  const schema = body?.kind === 'json' ? body.schema : undefined
  return fc.record({
    params: fc.record(Object.fromEntries(names.map((name) => [name, segment]))),
    query: membersOf(query),
    headers: fc.record(
      Object.fromEntries(Object.keys(headers?.properties ?? {}).map((name) => [name, fc.nat()])),
    ),
    body: fc.oneof({ weight: 5, arbitrary: membersOf(schema) }, { weight: 1, arbitrary: fc.jsonValue() }),
  })
}

describe('slim contracts', async () => {
  const code = await bundleOf('allContracts')
  const slim = new Map(
    ((await exportsOf(code)).allContracts as Contract[]).map((contract) => [contract.name, contract]),
  )

  test('are there for every endpoint', () => {
    expect([...slim.keys()]).toEqual(allContracts.map(({ name }) => name))
  })

  test.each(allContracts.map((contract) => [contract.name, contract] as const))(
    '%s sends the same requests and reads answers alike',
    async (name, whole) => {
      const isEmpty = whole.reply.kind === 'empty'
      const answer = () =>
        new Response(isEmpty ? null : '{"data":[1],"time":2}', { status: whole.reply.status })
      await fc.assert(
        fc.asyncProperty(partsOf(whole), async (parts) => {
          const contract = slim.get(name) as Contract
          expect(await requestBy(contract, parts, answer)).toEqual(await requestBy(whole, parts, answer))
        }),
        { numRuns: runsOf(10) },
      )
    },
  )

  test('have nothing that is not read', () => {
    expect(slim.get('listActions')).toEqual({
      name: 'listActions',
      method: 'GET',
      path: '/api/actions',
      reply: { kind: 'list' },
    })
    expect(code).not.toMatch(/typebox|summary|description|~kind/i)
  })
})

describe('a bundle', () => {
  const pathMember = /\bpath"?: ?["'`]\/api\//g

  test('has only the contracts that are used', async () => {
    const code = await bundleOf('getAction')
    expect(Object.keys(await exportsOf(code))).toEqual(['getAction'])
    expect(code.match(pathMember)).toHaveLength(1)
  })

  test('has only the contracts that are used without the plugin too', async () => {
    const text = `export { getAction } from '@kith/protocol'`
    const code = await bundleTextForBrowser(text, { minify: true })
    expect(code.match(pathMember)).toHaveLength(1)
  })

  test('of the client alone has no TypeBox without the plugin either', async () => {
    const code = await bundleTextForBrowser(`export { createClient } from '@kith/client'`)
    expect(code).not.toMatch(/typebox/i)
  })

  test('of the definitions of settings is JSON without TypeBox, and is not there unless it is used', async () => {
    const text = `export { settingDefinitions } from '@kith/protocol'`
    const whole = JSON.parse(JSON.stringify(settingDefinitions))
    for (const plugins of [[], [slimContracts()]]) {
      const code = await bundleTextForBrowser(text, { plugins })
      expect(code).not.toMatch(/typebox/i)
      expect((await exportsOf(code)).settingDefinitions).toStrictEqual(whole)
      expect(
        await bundleTextForBrowser(text.replace('settingDefinitions', 'putSetting'), { plugins }),
      ).not.toContain('notify.push')
    }
  })

  test('keeps plain data', async () => {
    const { settingLevels, maxUnread, errorStatus } = await exportsOf(
      await bundleOf('settingLevels', 'maxUnread', 'errorStatus'),
    )
    const whole = await import('@kith/protocol')
    expect({ settingLevels, maxUnread, errorStatus }).toEqual({
      settingLevels: whole.settingLevels,
      maxUnread: whole.maxUnread,
      errorStatus: whole.errorStatus,
    })
  })

  test.each(['Action', 'JsonObject', 'rtdbRequests', 'actionTypes', 'Words', 'openApiDocument'])(
    'that uses %s fails',
    async (name) => {
      await expect(bundleOf(name)).rejects.toThrow(/The bundle uses .* of @kith\/protocol/)
    },
  )

  test('is what Vite makes of it, too', async () => {
    const { build } = await import('vite')
    const result = await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [slimContracts()],
      build: {
        write: false,
        lib: {
          entry: fileURLToPath(new URL('feed-client.ts', import.meta.url)),
          formats: ['es'],
          fileName: 'feed',
        },
      },
    })
    const [{ output }] = result as unknown as [{ output: readonly { code: string }[] }]
    const exports = await exportsOf(output[0]?.code ?? '')
    expect(exports.getMe).toEqual({ name: 'getMe', method: 'GET', path: '/api/me', reply: { kind: 'data' } })
  })
})

test('what is left out throws where a development server checks no bundle', async () => {
  const plugin = { ...slimContracts(), generateBundle: undefined as never }
  const code = await bundleTextForBrowser(`export { Action } from '@kith/protocol'`, { plugins: [plugin] })
  const { Action } = (await exportsOf(code)) as { Action: { properties: object } }
  expect(() => Action.properties).toThrow('Action of @kith/protocol was left out')
})
