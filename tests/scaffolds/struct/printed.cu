using gemm_16x64_mainloop =
  typename house::CollectiveBuilder<
    __nv_bfloat16,
    house::Shape<16, 64>
  >::CollectiveOp;

using gemm_16x64_base = house::GemmHouse<
    house::Shape<0, 0>,
    gemm_16x64_mainloop>;

struct gemm_16x64 : public gemm_16x64_base { };
