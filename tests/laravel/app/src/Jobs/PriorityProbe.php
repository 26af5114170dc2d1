<?php

declare(strict_types=1);

namespace App\Jobs;

use Askr\Laravel\Queue\HasPriority;

final class PriorityProbe extends Probe implements HasPriority
{
    public int $level = 0;

    public function priority(): int
    {
        return $this->level;
    }
}
