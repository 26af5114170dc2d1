<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldBeEncrypted;

/**
 * A job whose payload nobody can read in the database.
 */
final class EncryptedJob extends Job implements ShouldBeEncrypted
{
}
