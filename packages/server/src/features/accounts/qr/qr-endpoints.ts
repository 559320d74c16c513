import {
  answerQrLogin as answerContract,
  getQrLoginDetails,
  getQrLoginStatus,
  initQrLogin as initContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { loggingUnknown } from '../sign-in/log-failed-sign-in.ts'
import { type AnswerQrDeps, answerQrLogin, getQrDetails, initQrLogin, pollQrLogin } from './qr-login.ts'

const usualWaitSecs = 15

export function qrEndpoints(deps: AnswerQrDeps): Endpoint[] {
  return [
    bind(initContract, ({ tenant, ip, userAgent }) =>
      initQrLogin(deps, { tenant, device: { ip, userAgent } }),
    ),
    bind(getQrLoginStatus, ({ tenant, params, headers, query, signal, ip }) =>
      loggingUnknown(deps, { ip, method: 'qr', tenant }, () =>
        pollQrLogin(deps, {
          tenant,
          sessionId: params.sessionId,
          secret: headers['x-qr-secret'],
          timeoutSecs: query.timeout ?? usualWaitSecs,
          signal,
        }),
      ),
    ),
    bind(getQrLoginDetails, ({ tenant, params }) =>
      getQrDetails(deps, { tenant, sessionId: params.sessionId }),
    ),
    bind(answerContract, ({ tenant, caller, params, body, ip }) =>
      answerQrLogin(deps, { tenant, caller, sessionId: params.sessionId, ...body, ip }),
    ),
  ]
}
