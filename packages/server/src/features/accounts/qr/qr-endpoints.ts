import {
  answerQrLogin as answerContract,
  getQrLoginDetails,
  getQrLoginStatus,
  initQrLogin as initContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { answerQrLogin, getQrDetails, initQrLogin, pollQrLogin, type QrLoginDeps } from './qr-login.ts'

const usualWaitSecs = 15

export function qrEndpoints(deps: QrLoginDeps): Endpoint[] {
  return [
    bind(initContract, ({ tenant, ip, userAgent }) =>
      initQrLogin(deps, { tenant, device: { ip, userAgent } }),
    ),
    bind(getQrLoginStatus, ({ tenant, params, headers, query, signal }) =>
      pollQrLogin(deps, {
        tenant,
        sessionId: params.sessionId,
        secret: headers['x-qr-secret'],
        timeoutSecs: query.timeout ?? usualWaitSecs,
        signal,
      }),
    ),
    bind(getQrLoginDetails, ({ tenant, params }) =>
      getQrDetails(deps, { tenant, sessionId: params.sessionId }),
    ),
    bind(answerContract, ({ tenant, caller, params, body, ip }) =>
      answerQrLogin(deps, { tenant, caller, sessionId: params.sessionId, approved: body.approved, ip }),
    ),
  ]
}
