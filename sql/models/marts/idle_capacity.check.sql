-- check: nothing is idle that is down or may be held, and no more than there is
select cluster, charge_date, accelerator, capacity_gpu_hours, down_gpu_hours, idle_gpu_hours
from marts.idle_capacity
where idle_gpu_hours < 0 or unknown_gpu_hours < 0
    or idle_gpu_hours + unknown_gpu_hours + down_gpu_hours > capacity_gpu_hours + 0.001
