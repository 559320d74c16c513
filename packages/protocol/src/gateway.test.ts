import { expect, test } from 'vitest'
import { allContracts } from './api/index.ts'
import type { Contract } from './contract.ts'
import { gatewayPath, gatewaySocket } from './gateway.ts'
import { crdtSocket } from './ws/index.ts'

/** Every endpoint that the gateway does not have, by the reason. One that stands nowhere here must have `gateway`. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'signs in, makes and ends credentials, or is of the account': [
    ...[
      'login',
      'initLogin',
      'logout',
      'refreshLogin',
      'getAccessToken',
      'exchangeCredential',
      'getProxyToken',
    ],
    ...['changeEmail', 'confirmEmail', 'getEmail', 'startBrowserSession', 'endBrowserSession'],
    ...['listSessions', 'revokeSession', 'changePassword', 'setPassword', 'forgotPassword'],
    ...['initQrLogin', 'getQrLoginStatus', 'getQrLoginDetails', 'answerQrLogin'],
    ...['listPasskeys', 'getPasskeyChallenge', 'addPasskey', 'renamePasskey', 'deletePasskey'],
    ...['getPasskeyLoginChallenge', 'loginWithPasskey'],
    ...['listApiKeys', 'createApiKey', 'getApiKey', 'updateApiKey', 'deleteApiKey'],
    ...['getAccountExport', 'startAccountExport', 'downloadAccountExport'],
  ],
  'makes or shows references, which are credentials': [
    ...['listReferences', 'createReference', 'getReference', 'findReference', 'deleteReference'],
    ...['listFileShares', 'createShare', 'deleteShare', 'listShares'],
  ],
  'is what servers say to each other': [
    ...['getIdentityDocument', 'receiveAction', 'receiveActionSync', 'listOutbox', 'logOutVisitor'],
  ],
  'makes accounts': ['verifyName', 'registerAccount', 'createCommunity', 'inviteCommunity'],
  'administers a server or a tenant': [
    ...['updateAdminProfile', 'sendPasswordReset', 'listTenants', 'suspendTenant', 'resumeTenant'],
    ...[
      'purgeTenant',
      'listAdminJobs',
      'retryJob',
      'discardJob',
      'getStatistics',
      'getStorage',
      'getServerChecks',
    ],
    ...['testEmail', 'listProxySites', 'createProxySite', 'getProxySite', 'updateProxySite'],
    ...['deleteProxySite', 'renewProxySiteCert', 'listDeliveryHosts', 'listDomainBlocks', 'blockDomain'],
    ...[
      'unblockDomain',
      'setStat',
      'getAuditLog',
      'listSettings',
      'getSetting',
      'putSetting',
      'deleteSetting',
    ],
  ],
  'is of a provider of names': [
    ...['getProviderInfo', 'checkAvailability', 'activateIdentity', 'listManagedIdentities'],
    ...['createManagedIdentity', 'getManagedIdentity', 'updateManagedIdentity', 'setIdentityAddress'],
    ...[
      'deleteManagedIdentity',
      'createIdentityKey',
      'listIdentityKeys',
      'getIdentityKey',
      'deleteIdentityKey',
    ],
  ],
  'is kept at home': [
    ...['listCollection', 'addToCollection', 'removeFromCollection'],
    ...['listConversations', 'listMessages', 'markConversationRead'],
    ...['getVapidKey', 'subscribePush', 'unsubscribePush'],
    ...['listApps', 'listInstalledApps', 'installApp'],
    ...['updateInstalledApp', 'uninstallApp', 'getAppAsset'],
    ...['getProfileImage', 'getProfileCover'],
  ],
  'speaks of addresses on the other host': ['createUpload', 'getUpload', 'continueUpload', 'endUpload'],
}

const contracts = allContracts as readonly Contract[]
const offered = contracts.filter(({ gateway }) => gateway)

test('endpoints that the gateway does not have stand here, with the reason', () => {
  const named = Object.values(refused).flat()
  const left = contracts.filter(({ gateway }) => !gateway).map(({ name }) => name)
  expect(named.toSorted()).toEqual(left.toSorted())
})

test('the gateway has nothing that is for a person at home, counted on its own, or answered on any host', () => {
  for (const { name, path, auth, bucket, anyHost, unscoped, feature, reply, answerHeaders } of offered) {
    expect([name, auth]).not.toEqual([name, 'personal'])
    expect([name, bucket, anyHost, unscoped, feature]).toEqual([
      name,
      // Who guesses codes is counted where they are redeemed, whichever way a guess comes.
      name === 'redeemJoinLink' ? 'reference' : undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect([name, reply.kind === 'bare', answerHeaders]).toEqual([name, false, undefined])
    expect(path).toMatch(/^\/api\/(me|profiles|actions|files|tags|trash)\b/)
  }
})

test('none is at a path within the gateway', () => {
  for (const { path } of contracts) expect(path).not.toMatch(/^\/api\/at\b/)
})

test('paths and sockets have their place behind the identity', () => {
  expect(gatewayPath('/api/files/{fileId}', 'bob.example')).toBe('/api/at/bob.example/files/{fileId}')
  const { path, auth, guests, scope } = gatewaySocket(crdtSocket)
  expect({ path, auth, guests, scope }).toEqual({ path: '/ws/at/{at}/crdt/{fileId}', auth: 'personal' })
})
