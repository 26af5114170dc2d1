<?php

declare(strict_types=1);

namespace App\Jobs;

use Askr\Laravel\Queue\HasPriority;

/**
 * A job that is taken before those that wait already.
 */
final class UrgentJob extends Job implements HasPriority
{
    public function priority(): int
    {
        return 10;
    }
}
