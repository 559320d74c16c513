import { STATUS_CODES } from 'node:http'
import type { SocketContract } from '@kith/protocol'
import { type AdmissionDeps, admitToTenant, type RawRoute } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { uncounted } from './upgrade-counting.ts'

const upgradeRequired = 426

/** Answers an ordinary request at the path of a socket. */
export function rejectUpgrade(contract: SocketContract, deps: AdmissionDeps): RawRoute {
  return {
    method: 'GET',
    path: contract.path,
    async handle({ peer }) {
      await admitToTenant(deps, contract, { ...peer, bearer: undefined }, uncounted)
      const error = { code: 'E-VALIDATION', message: STATUS_CODES[upgradeRequired] }
      return {
        status: upgradeRequired,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'no-store',
          upgrade: 'websocket',
          connection: 'Upgrade',
        },
        body: JSON.stringify({ error, time: nowSecs(deps.clock) }),
      }
    },
  }
}
