/** The text of a migration stays what it was. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';

const MIGRATIONS = path.join(findPackageDirectory(), 'prisma/migrations');

/**
 * What was committed is never edited: a database somewhere has been made by it. A new migration is added
 * here.
 */
const CHECKSUMS: Readonly<Record<string, string>> = {
  '0001_initial': '5d5cc0d4a0e21ddf70ccaffb592dc4dc7091d3fe0dbbf4c336d89d57c9788a46',
  '0002_report_functions': '7328ef9ec032206f55f0e9b6ca46d6e46f474ca249b4a55a7ece9ee09d635d00',
  '0003_receipt_series': '64890b24c63f25a8151c39f4ea2633003e0a3d41eb17d4712982371c32007026',
  '0004_end_sessions': '43dfdd20efe02d192c6585cacae62bfb2582a39bcbdfd651d10b74c497500d26',
  '0005_fee_months': '6b80aa44a7fcb3214ce3faad7206cb2a9141d27d98027d4675a061e766bd1b15',
  '0006_change_feed': 'a9042deaba6868492b8e93543767385613721270b0a9fff3e8669e167cf3bbc2',
  '0007_messages': '3d1f99ffefa43eb4f9ea6b438c4dc371a9d714b36f5db3b9c8b6fdc69eafa3d2',
  '0008_files': '67ddac36639f9d0b3cf0400bed2a94cd0fc07c14efdddaf1a275b156633685cf',
  '0009_scripts': '9ccc8397fc8d9a5e93aa936827e375623ef38409946c4626411ffdcaee7271cf',
  '0010_document_functions': 'd6ee52befe4af1b989ceed0be1667566fa92bf1e2a9853cc734caecf2e440299',
  '0011_script_log': '626eb9fa7f91c390c33e8a6629e0fe609c531bb7c1a26d9121055b99806ec7d3',
  '0012_message_jobs': '0f8f21376721abbcf3d202a0e72a7c942195e1ff29e350440dbead640912c761',
  '0013_attendance_months': '7b8400608f88310107bb07bc8b4ebd8f8d832ef47cad671719a2e4d47318e844',
  '0014_renew_functions': '373751137292d999d4f9ad7ae916acd519ec3aecca462ae1eb7f81e08d4f300b',
  '0015_script_causes': 'c6efbb7f6deb1a7954cf9ce7fbd97d3530e7a0f83cf4422e37f8cb84ec41c20f',
  '0016_audit_operations': '73bd58f27969b91a9fa432e9ac0adad9b4a98ab5b09d4b3f54e03813c5978838',
  '0017_months_by_statement': '8153299eca392dcdeab00e27e5f4ef093c2e748806a3f8cc00a3c5a65927e06a',
  '0018_history': '2c5412daf20af056f4126db39e80662367a8a8f62da82e8e05077adca962d857',
  '0020_collected_receipts': 'd3fed93269e55e05fff1c747116baeaadf41ef9803dbd2c82715787d8d961474',
  '0021_imports': '1dc41078777c4cf90ebc4a6c52158ca72068039ca62075a6ca9db7a6e36c91fc',
  '0022_covering_fee_months': 'c44b94a6235a9ecad23ea3ef5c0211027b7da0c51717557c06e1f1e6b7f3fd05',
  '0023_resumable_uploads': 'b673b7a63c9a8f2ff44a03f3173a29d2d90796877594e296fdacbcf492b52676',
  '0024_erasures': '0a34341b2dc8649fb48c579364d1ad1f467ec487f7581046744e4cb6eb71bb80',
  '0025_domains_of_parts': '9a5ae7143aa3fb6a39e4e9bdb529af96270e20fe17209c0136bf385909919c60',
  '0026_chunks_stay_with_their_file': '27f06ff31006214c5c04a76369ec07dbd5c026af4cea575332bd548f794036b4',
  '0027_accounts': 'fff32a2a208129941a92289200a8091f69e09813c3d93c39f5b13cd6ba5b9da4',
  '0028_key_usage': '9450b85c39b8e7c4f37c61c7c245a8459aa86230c027d2465ed81fb4cc53cacc',
  '0029_webhooks': '7c256880468b21cd532b0301a909b26dbe7bb857ba3b98051b5716c480e5521c',
  '0030_collection_domains': 'f7d259250fc463cfa9489905bf2a2a6053ae092a21a86b555b656d5d69d025f4',
  '0031_keys_with_domain': '16c32ba0f1e72c440f0bbd020b7094f1193b6d2e764d80bfbfef701b393a1287',
  '0032_webhook_failures': '8e32299ef4843a5e4e572aedff708761f1572ed091797c69411105d9a9281b55',
  '0035_derived_by_statement': 'b4fe562bac7b4d31e159c71cb81050dac1d6223eeae1683f0b0c0b1b428d7c2e',
  '0036_change_outbox': '1aa60cc4ae651694c40aa1488b447a8ae927589258722b361dcec5376cb78658',
  '0037_undone_imports': 'bcbdaa67c8891328dacca965c908d487e8b6562f922d26f54280178e0cc4c3f0',
  '0038_import_outcomes': '09636c7fc061dd3a82f110cfc3cf67419dedd03a81ca46138631dcc08d7a8cec',
  '0039_deferred_lengths': '64443d003329cf2e2bb07260972ec017de7b76a480e43f95bc2f67f497bba472',
  '0041_audit_days': 'd48a68e5f2dd91b1e1f2952950e9a409b3260f7024722c90607962db4fd13e36',
  '0043_field_uses': '20d25fd0f1313e070d157cc42d53071fa28ab75080e4a86a85b9902b910570af',
  '0047_deliveries_by_webhook': '00e374839d268cf6cbc4927f387a8a22454402bc414f3f835d7dc9657b5cb5bc',
  '0048_outbox_follow_ups': 'e4119f3e3de3ff685a513f3ed2a2c1d069587f1c57fb55f9cc776afe1e588179',
  '0049_webhook_probes': '9b7ab6fa7a6ab0efc1a30c915c2f49f5501d734491044277329cdb9d3a96736b',
  '0053_document_comparison': 'dc3e5f59230c4c2d6f2f275115e680ecd044f956fa48f5fd4836c7413ab083f2',
  '0054_message_senders': '20c9650af78f38e3668bb45188c3c4dd4cf5b6c5ef6a298dec80acb4fdc83c41',
  '0055_secret_channels': 'e943bdc7456cc4a69761f49678218c5444b2963da017e5a2ca6570f3fb43976b',
  '0056_receipt_numbers': '64de7ae3fd7ed8846a32b75e6775913505d46a0c9bca2675d2d006243191b007',
  '0057_whole_key_usage': '2fc13504ccf2155f59de4487ba425ba9a6cbe91e993619a2bc3d5f38aa922df2',
  '0058_user_lockouts': '407b800f6418c96c9a71a89e2fe8c93ea68ccc6f88101b6eff674d09b91ef3ea',
  '0059_sending_deliveries': 'c08a65b95050c3a277e5880728983aeec001cd15c166278893b466f75d892753',
};

describe('the text of a migration', () => {
  it('is never edited once it was committed', async () => {
    const entries = await readdir(MIGRATIONS, { withFileTypes: true });
    const checksums = await Promise.all(
      entries
        .filter((entry) => entry.isDirectory())
        .map(async ({ name }) => {
          const text = await readFile(path.join(MIGRATIONS, name, 'migration.sql'));
          return [name, createHash('sha256').update(text).digest('hex')];
        }),
    );
    expect(Object.fromEntries(checksums)).toEqual(CHECKSUMS);
  });
});
