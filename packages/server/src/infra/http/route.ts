import { type Contract, gatewayPath, type Page, paginationOf } from '@kith/protocol'
import Type from 'typebox'
import { type Answer, type Endpoint, type Handler, Reshaped } from './endpoint.ts'
import { type InputReader, inputReaderOf } from './request-input.ts'
import { compileSerializer } from './serializer.ts'

/** An endpoint as it is served: what is compiled from its contract is compiled when it is first asked for. */
export interface Route {
  readonly contract: Contract
  readonly handle: Handler<Contract>
  /** In the syntax of the router. */
  readonly urls: readonly string[]
  /** The parameter that the router calls `*`. */
  readonly restParameter: string | undefined
  input: InputReader | undefined
  /** The JSON text of a payload, without its envelope. */
  write: ((payload: unknown) => string) | undefined
}

export function routeOf({ contract, handle }: Endpoint): Route {
  return {
    contract,
    handle,
    urls: pathsOf(contract).flatMap((path) => urlsOf(contract, path)),
    restParameter: /\{(\w+)\*\}$/.exec(contract.path)?.[1],
    input: undefined,
    write: undefined,
  }
}

/** The same endpoint at the hosts of other identities (docs/protocol/gateway.md), in the syntax of the router. */
export function gatewayUrlsOf({ urls }: Route): string[] {
  return urls.map((url) => gatewayPath(url, ':at'))
}

/** A path for the router. Where a parameter is one of a few words, those come before what has a fixed word later on:
 * `/files/raw/restore` is an upload under this name, `/files/ID/restore` is not. */
function urlsOf({ params }: Contract, path: string): string[] {
  const properties: Readonly<Record<string, { enum?: readonly string[] }>> = params?.properties ?? {}
  const url = path.replaceAll(/\{\w+\*\}$/g, '*')
  const plain = url.replaceAll(/\{(\w+)\}/g, ':$1')
  const worded = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const words = properties[name]?.enum
    return words ? `:${name}(^(?:${words.join('|')})$)` : `:${name}`
  })
  return worded === plain ? [plain] : [worded, plain]
}

/** Every path of a contract: its own, its aliases, and its singular forms (docs/protocol/conventions.md, Paths). */
export function pathsOf(contract: Contract): string[] {
  const paths = [contract.path, ...(contract.aliases ?? [])]
  return [...paths, ...paths.flatMap((path) => singularOf(path) ?? [])]
}

function singularOf(path: string): string | undefined {
  const plural = /^(\/api\/(?:action|file))s(\/.*)?$/.exec(path)
  return plural ? `${plural[1]}${plural[2] ?? ''}` : undefined
}

/** What reads the route's input; compiled once. */
export function inputOf(route: Route): InputReader {
  route.input ??= inputReaderOf(route.contract)
  return route.input
}

/** The body, status and headers of a successful JSON answer. */
interface JsonAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Puts what a handler answered into its envelope. */
export function renderAnswer(
  route: Route,
  answer: Answer<Contract>,
  time: string,
  reqId: string,
): JsonAnswer {
  const { reply } = route.contract
  const reshaped = answer instanceof Reshaped ? answer : undefined
  const payload: unknown = reshaped ? reshaped.data : answer
  const base = { status: reshaped?.status ?? reply.status, headers: reshaped?.headers ?? {} }
  const write = writerOf(route)
  const text = write(payload)
  if (reply.kind === 'bare') return { ...base, text }
  const tail = `,"time":"${time}","reqId":"${reqId}"}`
  if (reply.kind !== 'list') return { ...base, text: `{"data":${text}${tail}` }
  const pagination = JSON.stringify(paginationOf(pageOf(payload))).slice(1, -1)
  return { ...base, text: `{"data":${text},${pagination}${tail}` }
}

function pageOf(payload: unknown) {
  return payload as Page<unknown>
}

function writerOf(route: Route): (payload: unknown) => string {
  if (route.write) return route.write
  const { reply } = route.contract
  if (!('schema' in reply)) throw new TypeError(`${route.contract.name} answers no JSON`)
  const isList = reply.kind === 'list'
  const write = compileSerializer(isList ? Type.Array(reply.schema) : reply.schema)
  route.write = isList ? (payload) => write(pageOf(payload).items) : write
  return route.write
}
