import type { Contract } from '@kith/protocol'
import { type Caller, guest, type Tenant } from '#infra/caller/index.ts'
import { type Answer, type Call, type Endpoint, Reshaped } from '#infra/http/index.ts'

/** What a test says of a call; the rest has no influence on handlers. */
export interface TestCall<C extends Contract> {
  readonly tenant?: Tenant
  readonly caller?: Caller
  readonly params?: Call<C>['params']
  readonly query?: Call<C>['query']
  readonly body?: Call<C>['body']
}

/** Calls the handler of a contract as the HTTP layer does after its own checks; answers what would be sent. */
export async function callEndpoint<C extends Contract>(
  endpoints: readonly Endpoint[],
  contract: C,
  call: TestCall<C>,
): Promise<Exclude<Answer<C>, Reshaped<unknown>>> {
  const endpoint = endpoints.find((one) => one.contract === contract)
  if (!endpoint) throw new Error(`no endpoint is bound to ${contract.name}`)
  const answer: unknown = await endpoint.handle({
    tenant: undefined,
    caller: guest,
    params: {},
    query: {},
    headers: {},
    body: undefined,
    bearer: undefined,
    ip: '192.0.2.1',
    userAgent: undefined,
    requestId: 'test',
    signal: new AbortController().signal,
    ...call,
  } as never)
  const sent = answer instanceof Reshaped ? answer.data : answer
  return (sent === undefined ? sent : JSON.parse(JSON.stringify(sent))) as never
}
