import type { TSchema } from 'typebox'
import { CursorPagination, OffsetPagination } from '../envelope.ts'
import { ErrorBody } from '../error-body.ts'
import { AccountEmail, confirmEmail } from './account-email.ts'
import { AccountExportView, ExportTicket } from './account-export.ts'
import { Action, ActionStat, ActionStatus, CreatedAction, NewAction, Visibility } from './action-shapes.ts'
import { publishAction, updateAction } from './actions.ts'
import { AdminProfile } from './admin-profiles.ts'
import { AdminTenant, purgeTenant } from './admin-tenants.ts'
import { AdminJob, ServerChecks, ServerStatistics, ServerStorage } from './admin-work.ts'
import { InstalledApp, OfferedApp } from './apps.ts'
import { AuditEntryView } from './audit.ts'
import { CollectionItem } from './collections.ts'
import { CreatedCommunity, inviteCommunity, ModerationEntry } from './communities.ts'
import { Conversation, ConversationUnread } from './conversations.ts'
import { DeliveryView } from './deliveries.ts'
import { DeliveryHost, DomainBlockView, receiveAction, receiveActionSync } from './federation.ts'
import { DeletedFile, EmptiedTrash, RestoredFile } from './file-changes.ts'
import { FileSnapshot } from './file-history.ts'
import { TagView } from './file-lists.ts'
import { CreatedFile, FileDescriptor, FileStatus, FileUserData, FileView } from './files.ts'
import {
  activateIdentity,
  ManagedIdentityView,
  NewManagedIdentityView,
  ProviderInfo,
  setIdentityAddress,
  updateManagedIdentity,
} from './idp.ts'
import { IdentityKeyView, NewIdentityKeyView } from './idp-keys.ts'
import { JoinLink, redeemJoinLink } from './join-links.ts'
import { LoginSession } from './login-session.ts'
import { IdentityDocument, Me, Profile, ServerInfo, updateRelationship } from './profiles.ts'
import { ProxySiteConfig, ProxySiteView } from './proxy-sites.ts'
import { SubscribePushBody, VapidKeyView } from './push.ts'
import { ReferenceInfo, ReferenceView } from './references.ts'
import { registerAccount, verifyName } from './registration.ts'
import { SettingView } from './settings.ts'
import { ShareView } from './shares.ts'
import { AccessGrant, getProxyToken, initLogin, SessionView } from './sign-in.ts'
import { ApiKeyView, NewApiKeyView } from './sign-in-api-keys.ts'
import { getPasskeyChallenge, PasskeyLoginChallenge, PasskeyView } from './sign-in-passkeys.ts'
import { changePassword, forgotPassword } from './sign-in-passwords.ts'
import { getQrLoginDetails, getQrLoginStatus, QrSecret } from './sign-in-qr.ts'
import { Usage, UsageByKind } from './storage-usage.ts'
import { UploadView } from './uploads.ts'

/** The names of schemas in the OpenAPI document, from which generators name their types. Bodies of requests that have none
 * are named by their operation. */
export const schemaNames: Readonly<Record<string, TSchema>> = {
  Error: ErrorBody,
  CursorPagination,
  OffsetPagination,
  Done: changePassword.reply.schema,
  Sent: forgotPassword.reply.schema,
  LoginStart: initLogin.reply.schema,
  LoginSession,
  AccountEmail,
  ConfirmedEmail: confirmEmail.reply.schema,
  AccessGrant,
  ProxyToken: getProxyToken.reply.schema,
  Session: SessionView,
  QrSecret,
  QrLoginStatus: getQrLoginStatus.reply.schema,
  QrLoginDetails: getQrLoginDetails.reply.schema,
  Passkey: PasskeyView,
  PasskeyChallenge: getPasskeyChallenge.reply.schema,
  PasskeyLoginChallenge,
  ApiKey: ApiKeyView,
  NewApiKey: NewApiKeyView,
  Me,
  Profile,
  ServerInfo,
  ChangedRelationship: updateRelationship.reply.schema,
  NameVerdict: verifyName.reply.schema,
  RegisteredAccount: registerAccount.reply.schema,
  IdentityDocument,
  AdminProfile,
  CreatedCommunity,
  CommunityInvitation: inviteCommunity.reply.schema,
  ModerationEntry,
  JoinLink,
  RedeemedJoinLink: redeemJoinLink.reply.schema,
  AdminTenant,
  PurgeState: purgeTenant.reply.schema,
  AdminJob,
  ServerStatistics,
  ServerChecks,
  ServerStorage,
  AuditEntry: AuditEntryView,
  AccountExport: AccountExportView,
  ExportTicket,
  ProxySite: ProxySiteView,
  ProxySiteConfig,
  Action,
  ActionStat,
  ActionStatus,
  Conversation,
  ConversationUnread,
  CreatedAction,
  NewAction,
  ChangedAction: updateAction.reply.schema,
  ActionState: publishAction.reply.schema,
  Visibility,
  InboxReceipt: receiveAction.reply.schema,
  SyncInboxReceipt: receiveActionSync.reply.schema,
  Delivery: DeliveryView,
  DeliveryHost,
  DomainBlock: DomainBlockView,
  File: FileView,
  CreatedFile,
  DeletedFile,
  RestoredFile,
  EmptiedTrash,
  FileDescriptor,
  FileSnapshot,
  FileStatus,
  FileUserData,
  Tag: TagView,
  Usage,
  UsageByKind,
  Upload: UploadView,
  Share: ShareView,
  CollectionItem,
  Reference: ReferenceView,
  ReferenceInfo,
  Setting: SettingView,
  ProviderInfo,
  ManagedIdentity: ManagedIdentityView,
  NewManagedIdentity: NewManagedIdentityView,
  ActivatedIdentity: activateIdentity.reply.schema,
  ChangedIdentity: updateManagedIdentity.reply.schema,
  IdentityAddress: setIdentityAddress.reply.schema,
  IdentityKey: IdentityKeyView,
  NewIdentityKey: NewIdentityKeyView,
  VapidKey: VapidKeyView,
  PushSubscription: SubscribePushBody,
  OfferedApp,
  InstalledApp,
}
