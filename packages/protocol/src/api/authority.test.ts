import { expect, test } from 'vitest'
import type { Contract } from '../contract.ts'
import { allContracts } from './index.ts'

/** What each endpoint requires of its caller: the credential, the scope that a narrowed credential needs (`unscoped`: a
 * narrowed one is refused), the role, and exceptions. Written by hand, so that a contract declared too openly fails here. */
const wanted: Record<string, string> = {
  login: 'none, counts sign-in',
  initLogin: 'optional, guests, counts login-init',
  logout: 'required, unscoped',
  refreshLogin: 'required, admin',
  getAccessToken: 'optional, guests, counts reference',
  getProxyToken: 'required, unscoped',
  listSessions: 'required, admin',
  revokeSession: 'personal',
  changePassword: 'personal, as leader, counts sign-in',
  setPassword: 'none, counts recovery',
  forgotPassword: 'none, whileSuspended, counts recovery',
  initQrLogin: 'none, counts qr',
  getQrLoginStatus: 'none',
  getQrLoginDetails: 'personal, as leader',
  answerQrLogin: 'personal, as leader',
  listPasskeys: 'personal, admin, as leader',
  getPasskeyChallenge: 'personal, as leader',
  addPasskey: 'personal, as leader',
  deletePasskey: 'personal, as leader',
  getPasskeyLoginChallenge: 'none, counts sign-in',
  loginWithPasskey: 'none, counts sign-in',
  listApiKeys: 'personal, admin:keys, as leader',
  createApiKey: 'personal, as leader',
  getApiKey: 'personal, admin:keys, as leader',
  updateApiKey: 'personal, as leader',
  deleteApiKey: 'personal, admin:keys, as leader',
  getMe: 'optional, guests, ignoresBadBearer',
  updateMe: 'required, write:profile, as leader',
  updateMyImage: 'required, write:profile, as leader',
  updateMyCover: 'required, write:profile, as leader',
  listProfiles: 'required, read:profile',
  getProfile: 'optional, read:profile',
  updateRelationship: 'required, write:profile, as leader',
  getIdentityDocument: 'none, anyHost',
  verifyName: 'none, counts registration',
  registerAccount: 'none, counts registration',
  createCommunity: 'required, write:profile, counts registration',
  inviteCommunity: 'required, admin, as SADM',
  updateAdminProfile: 'required, admin, as moderator or SADM',
  sendPasswordReset: 'required, admin, as SADM',
  listActions: 'optional, read:actions',
  createAction: 'required, write:actions',
  getAction: 'optional, read:actions',
  updateAction: 'required, write:actions',
  deleteAction: 'required, write:actions',
  publishAction: 'required, write:actions',
  cancelAction: 'required, write:actions',
  acceptAction: 'required, write:actions',
  rejectAction: 'required, write:actions',
  dismissAction: 'required, write:actions',
  setReaction: 'required, write:actions',
  setStat: 'required, admin:actions, as SADM',
  listDeliveries: 'required, read:actions',
  receiveAction: 'none, anyHost, counts inbox',
  receiveActionSync: 'none, anyHost, counts inbox-sync',
  listOutbox: 'optional, read:actions',
  listDeliveryHosts: 'required, admin, as SADM',
  listDomainBlocks: 'required, admin, as SADM',
  blockDomain: 'required, admin, as SADM',
  unblockDomain: 'required, admin, as SADM',
  uploadFile: 'required, write:files, guests',
  downloadFile: 'optional, read:files, guests, queryToken',
  downloadVariant: 'optional, read:files, guests, queryToken',
  getFileDescriptor: 'optional, read:files, guests',
  getFileMetadata: 'optional, read:files, guests',
  getUsage: 'required, read:files',
  listFiles: 'optional, read:files, guests',
  listTags: 'required, read:files',
  createFile: 'required, write:files, guests',
  changeFile: 'required, write:files',
  deleteFile: 'required, write:files, guests',
  restoreFile: 'required, write:files, guests',
  emptyTrash: 'required, write:files',
  duplicateFile: 'required, write:files',
  putTag: 'required, write:files',
  removeTag: 'required, write:files',
  createUpload: 'required, write:files, guests',
  getUpload: 'required, read:files, guests',
  continueUpload: 'required, write:files, guests',
  endUpload: 'required, write:files, guests',
  listFileShares: 'required, admin:files',
  createShare: 'required, admin:files',
  deleteShare: 'required, admin:files',
  listShares: 'required, admin:files',
  listCollection: 'required, read:collections',
  addToCollection: 'required, write:collections',
  removeFromCollection: 'required, write:collections',
  changeFileUserData: 'required, write:files',
  listReferences: 'required, admin:refs',
  createReference: 'required, admin:refs',
  getReference: 'optional, guests, counts reference',
  deleteReference: 'required, admin:refs',
  listSettings: 'required, read:settings, as leader or SADM',
  getSetting: 'required, read:settings, as leader or SADM',
  putSetting: 'required, write:settings, as leader or SADM',
  deleteSetting: 'required, write:settings, as leader or SADM',
  getProviderInfo: 'none, offers idp',
  checkAvailability: 'optional, guests, offers idp, counts idp',
  activateIdentity: 'none, offers idp, counts idp',
  listManagedIdentities: 'required, read:idp, offers idp',
  createManagedIdentity: 'required, write:idp, offers idp, counts idp',
  getManagedIdentity: 'required, read:idp, identityKeys, offers idp',
  updateManagedIdentity: 'required, write:idp, offers idp',
  setIdentityAddress: 'required, write:idp, identityKeys, offers idp',
  deleteManagedIdentity: 'required, write:idp, offers idp',
  createIdentityKey: 'required, admin:idp, offers idp',
  listIdentityKeys: 'required, read:idp, offers idp',
  getIdentityKey: 'required, read:idp, offers idp',
  deleteIdentityKey: 'required, admin:idp, offers idp',
  getVapidKey: 'required, read:notifications',
  getAuditLog: 'required, admin, as leader',
}

const unusual = [
  'guests',
  'identityKeys',
  'ignoresBadBearer',
  'anyHost',
  'whileSuspended',
  'queryToken',
] as const

function declared(contract: Contract): string {
  const { auth, scope, unscoped, role, orAdmin, feature, bucket } = contract
  return [
    auth,
    unscoped === 'strictly' ? 'unscoped' : unscoped ? 'admin' : scope,
    role && `as ${role}${orAdmin ? ' or SADM' : ''}`,
    ...unusual.filter((word) => contract[word]),
    feature && `offers ${feature}`,
    bucket && `counts ${bucket}`,
  ]
    .filter(Boolean)
    .join(', ')
}

test('contracts ask for what the table says', () => {
  const asked = (allContracts as readonly Contract[]).map((contract) => [contract.name, declared(contract)])
  expect(Object.fromEntries(asked)).toEqual(wanted)
})

test('contracts take no right to read or write for one to administer', () => {
  const asked: (string | undefined)[] = (allContracts as readonly Contract[]).map(({ scope }) => scope)
  for (const area of ['refs', 'keys'])
    for (const level of ['read', 'write']) expect(asked).not.toContain(`${level}:${area}`)
})
