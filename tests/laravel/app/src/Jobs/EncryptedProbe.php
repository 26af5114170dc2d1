<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Contracts\Queue\ShouldBeEncrypted;

final class EncryptedProbe extends Probe implements ShouldBeEncrypted
{
}
